// Simulated clients: many workers in one process; to the coordinator, each is a client of its own with its own clock.
#ifndef WORKER_SIMULATED_SIMULATED_WORKERS_H_
#define WORKER_SIMULATED_SIMULATED_WORKERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "common/transport/transport.h"
#include "worker/simulated/simulation_loop.h"

namespace iobench {

// Makes `count` workers on clients named sim-PID-N. They have the state machine, messages and results of real workers,
// but no thread of their own (SimulatedPhase). Their clocks differ by seconds, as those of hosts without a time service
// do. `loop` must outlive them.
std::vector<std::unique_ptr<WorkerHandler>> MakeSimulatedWorkers(uint32_t count, SimulationLoop& loop);

}  // namespace iobench

#endif  // WORKER_SIMULATED_SIMULATED_WORKERS_H_

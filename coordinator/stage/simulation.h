// `cluster-iobench selftest --simulate N`: the real coordinator with N simulated clients on this host.
#ifndef COORDINATOR_STAGE_SIMULATION_H_
#define COORDINATOR_STAGE_SIMULATION_H_

#include "coordinator/stage/job.h"

namespace iobench {

// Listens on loopback, over TLS with a token as on a network (without both with --insecure), starts a few processes
// with the simulated clients (worker --simulate), each with a connection of its own, and runs the command on them.
// Returns the exit code; errors are printed on stderr as one line. REQUIRES: job.simulate > 0; HandleSignals.
int RunSimulation(const Job& job);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_SIMULATION_H_

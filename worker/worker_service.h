// A worker: takes requests, runs phases on its lanes, sends events. The state machine stands in control.proto.
#ifndef WORKER_WORKER_SERVICE_H_
#define WORKER_WORKER_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/transport/transport.h"

namespace iobench {

struct WorkerOptions {
  WorkerClock clock{};           // tests move it
  std::string host_override;     // simulated workers; empty: gethostname
  std::string boot_id_override;  // tests; empty: /proc/sys/kernel/random/boot_id
  uint32_t place = 0;            // in the client list; 0: none
  std::string path = {};         // where to work, already resolved; empty: where the plan says
  bool measure_costs = true;     // clock_read_ns and loop_ns in the facts; once per process
};

// Handle may be called from any thread, one at a time; it never blocks. Lane threads are joined by Shutdown and the
// destructor; lanes stuck in the kernel are abandoned after 5 s (their memory is leaked on purpose).
std::unique_ptr<WorkerHandler> MakeWorkerService(const WorkerOptions& options);

}  // namespace iobench

#endif  // WORKER_WORKER_SERVICE_H_

// The settings of a worker at its creation.
#ifndef WORKER_CLIENT_WORKER_OPTIONS_H_
#define WORKER_CLIENT_WORKER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "common/clock.h"

namespace iobench {

// Plain values. The defaults are those of a worker on a host of its own. Tests and simulated clients in one process set
// the clock and the overrides.
struct WorkerOptions {
  // The worker's clock. With an offset, it disagrees with those of other workers, as clocks of different hosts do.
  WorkerClock clock{};
  // The name that the facts show; empty: gethostname().
  std::string host_override;
  // Workers with the same boot id are one client and share a clock; empty: /proc/sys/kernel/random/boot_id.
  std::string boot_id_override;
  // The position in the client list that this worker was started for, counted from 1; it determines the number of the
  // worker. 0: not from a list.
  uint32_t client_list_position = 0;
  // The path to test, already resolved (DirectoryToWorkIn); empty: the plan's.
  std::string path = {};
  // The worker has no lanes, but samples its host.
  bool sampler = false;
  // The worker works on a server's own directory, and belongs to no client.
  bool server = false;
  // Put clock_read_ns and loop_ns into the facts. They take some milliseconds to measure, once per process.
  bool measure_costs = true;
};

}  // namespace iobench

#endif  // WORKER_CLIENT_WORKER_OPTIONS_H_

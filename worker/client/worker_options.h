// The settings of a worker at its creation.
#ifndef WORKER_CLIENT_WORKER_OPTIONS_H_
#define WORKER_CLIENT_WORKER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "common/clock.h"

namespace iobench {

struct WorkerOptions {
  WorkerClock clock{};           // tests set an offset
  std::string host_override;     // for simulated workers; empty: gethostname
  std::string boot_id_override;  // for tests; empty: /proc/sys/kernel/random/boot_id
  uint32_t client_list_position = 0;  // counted from 1; 0: none
  std::string path = {};         // path to test, already resolved; empty: use the plan's
  bool measure_costs = true;     // clock_read_ns and loop_ns in the facts, measured once per process
};

}  // namespace iobench

#endif  // WORKER_CLIENT_WORKER_OPTIONS_H_

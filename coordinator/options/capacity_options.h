// The options of `capacity`, besides those of the workload, which are the options of `run`.
#ifndef COORDINATOR_OPTIONS_CAPACITY_OPTIONS_H_
#define COORDINATOR_OPTIONS_CAPACITY_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace iobench {

// What is asked, and how the answer is reported. The SLO and the needed rate are checked when the plan is built.
struct CapacityOptions {
  std::string slo;                 // "p99<=10ms"; empty: none
  double load_per_s = 0;           // today's load, ops/s; 0: not given
  std::string need;                // a rate: "5GiB/s" or "20000" (ops/s); empty: not given
  double users = 0;                // with user_per_s; 0: not given
  double user_per_s = 0;           // ops/s of each
  uint32_t points = 10;            // of the load curve
  bool redact = false;             // what is printed or written to `output` has aliases for hosts, paths and users
  std::vector<std::string> saved;  // directories of capacity runs to show, instead of measuring
  std::string format = "text";     // one of kCapacityFormatNames
  std::string output;              // file to write; empty: standard output
};

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_CAPACITY_OPTIONS_H_

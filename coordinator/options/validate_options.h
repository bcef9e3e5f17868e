// The options of `validate`.
#ifndef COORDINATOR_OPTIONS_VALIDATE_OPTIONS_H_
#define COORDINATOR_OPTIONS_VALIDATE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace iobench {

// Which checks run, with what limits, and how they are reported. Names of checks and the file of waivers are checked
// when they are used, before any worker is started.
struct ValidateOptions {
  std::string path;
  bool whole = false;
  bool list = false;              // print the checks, and stop
  std::vector<std::string> only;  // each may hold several names, separated by commas
  std::vector<std::string> skip;
  std::string waive;  // file
  std::string fault_hook;
  std::string client_hook;
  double lock_free_within_s = 0;  // 0: the default
  double fault_timeout_s = 300;
  double visible_within_s = 65;
  double stall_within_s = 90;
  double recall_within_s = 10;
  double clock_difference_s = 1;
  // Performance, of each client alone and then of all together.
  bool per_client = false;
  std::string size;             // to write and read per worker; empty: the default
  double phase_s = 0;           // 0: the default
  double outlier_percent = 0;   // 0: the default
  std::string expect;           // file
  std::string over_quota;       // a size above the user's quota; empty: not given
  double consistency_s = 0;     // 0: not given
  uint32_t seed = 0;            // of all random choices …
  bool seed_given = false;      // … otherwise a random one
  uint32_t names = 0;           // 0: the default, which depends on `whole`
  std::string format = "text";  // one of kValidateFormatNames
  std::string output;           // file to write; empty: standard output
  bool replace = false;         // an existing file may be replaced
  bool redact = false;          // names of hosts, paths and users are replaced by aliases
};

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_VALIDATE_OPTIONS_H_

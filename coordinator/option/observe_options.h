// The options of `observe`.
#ifndef COORDINATOR_OPTION_OBSERVE_OPTIONS_H_
#define COORDINATOR_OPTION_OBSERVE_OPTIONS_H_

#include <string>
#include <vector>

namespace iobench {

// Either `merge` names files, or `path` a directory and `for_s` a time; the command line has checked it.
struct ObserveOptions {
  std::string path;
  double for_s = 0;
  double interval_s = 0;           // 0: a minute, or a tenth of for_s if that is shorter
  std::string output;              // file; empty: standard output
  bool replace = false;            // an existing file may be replaced
  std::vector<std::string> merge;  // mix files that become one
  std::string mountstats = "/proc/self/mountstats";
};

}  // namespace iobench

#endif  // COORDINATOR_OPTION_OBSERVE_OPTIONS_H_

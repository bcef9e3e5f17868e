// The control groups of this process.
#ifndef COMMON_PROCESS_CGROUP_H_
#define COMMON_PROCESS_CGROUP_H_

#include <string>
#include <vector>

namespace iobench {

// A control group as its directory shows it.
struct Cgroup {
  std::string directory;  // "/sys/fs/cgroup/system.slice/bench.service"
  std::string name;       // "/system.slice/bench.service", as this process sees it
};

// The groups that hold this process, as /proc showed them when the object was made: for several questions at a time, of
// which each alone would read these files again. Immutable.
class CgroupsHere {
 public:
  // `root`: "" outside of tests.
  explicit CgroupsHere(const std::string& root = "");
  // As CgroupsOfThisProcess.
  std::vector<Cgroup> Of(const std::string& controller) const;

 private:
  std::string root_;
  std::vector<std::string> mountinfo_, groups_;  // lines
};

// Returns the groups that hold this process with respect to `controller` ("pids", "memory", "cpu"), in cgroup v1 or v2:
// the innermost first, then those above it as far as they are mounted here. Each may limit what the process gets.
// Empty: there are none, or they are not visible. `root`: "" outside of tests.
std::vector<Cgroup> CgroupsOfThisProcess(const std::string& controller, const std::string& root = "");

}  // namespace iobench

#endif  // COMMON_PROCESS_CGROUP_H_

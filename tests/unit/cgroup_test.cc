// Which control groups hold this process, as /proc and the mounts describe it.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "common/process/cgroup.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// A host whose files this test has written.
class Host {
 public:
  Host& Says(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_path() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  Host& Has(const std::string& directory) {
    std::filesystem::create_directories(root_path() + directory);
    return *this;
  }
  std::vector<std::string> Groups(const std::string& controller) const {
    const std::string root = root_path();
    std::vector<std::string> found;
    for (const Cgroup& group : CgroupsOfThisProcess(controller, root)) {
      found.push_back(group.directory.substr(root.size()) + " is " + group.name);
    }
    return found;
  }
  std::string root_path() const { return directory_.path(); }

 private:
  TempDir directory_;
};

using Lines = std::vector<std::string>;

TEST_CASE("in v2, each group up to the root may limit") {
  Host host;
  host.Says("/proc/self/mountinfo", "22 1 0:5 / /proc rw - proc proc rw\n30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 c rw\n")
      .Says("/proc/self/cgroup", "0::/system.slice/bench.service\n")
      .Has("/sys/fs/cgroup/system.slice/bench.service");
  CHECK(host.Groups("pids") == Lines{"/sys/fs/cgroup/system.slice/bench.service is /system.slice/bench.service",
                                     "/sys/fs/cgroup/system.slice is /system.slice", "/sys/fs/cgroup is /"});
}

TEST_CASE("in v1, a controller has a hierarchy of its own") {
  Host host;
  host.Says("/proc/self/mountinfo",
            "30 1 0:26 / /sys/fs/cgroup/unified rw - cgroup2 c rw\n31 1 0:27 / /sys/fs/cgroup/pids rw - cgroup c rw,pids\n"
            "32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu,cpuacct\n")
      .Says("/proc/self/cgroup", "9:pids:/bench\n4:cpu,cpuacct:/\n0::/\n")
      .Has("/sys/fs/cgroup/pids/bench")
      .Has("/sys/fs/cgroup/cpu")
      .Has("/sys/fs/cgroup/unified");
  CHECK(host.Groups("pids") == Lines{"/sys/fs/cgroup/pids/bench is /bench", "/sys/fs/cgroup/pids is /"});
  CHECK(host.Groups("cpu") == Lines{"/sys/fs/cgroup/cpu is /"});
  CHECK(host.Groups("io") == Lines{"/sys/fs/cgroup/unified is /"});
}

TEST_CASE("a container that sees only its own group finds it, although the kernel names it as the host does") {
  Host host;
  host.Says("/proc/self/mountinfo", "31 1 0:27 /docker/1f /sys/fs/cgroup/pids ro - cgroup c rw,pids\n")
      .Says("/proc/self/cgroup", "9:pids:/docker/1f/job\n")
      .Has("/sys/fs/cgroup/pids/job");
  CHECK(host.Groups("pids") == Lines{"/sys/fs/cgroup/pids/job is /job", "/sys/fs/cgroup/pids is /"});
  // Neither is visible: what is mounted counts.
  host.Says("/proc/self/cgroup", "9:pids:/elsewhere/2a\n");
  CHECK(host.Groups("pids") == Lines{"/sys/fs/cgroup/pids is /"});
}

TEST_CASE("a host without control groups has none") {
  CHECK(Host().Groups("pids").empty());
  CHECK(Host().Says("/proc/self/mountinfo", "nonsense\n\n").Groups("pids").empty());
}

}  // namespace
}  // namespace iobench

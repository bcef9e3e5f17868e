// The closest limit of threads and processes.
#include "common/process/thread_limit.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// A host with 300 threads whose files this test has written, and a process in the group /a/b.
class LimitedHost {
 public:
  LimitedHost() {
    Says("/proc/loadavg", "0.1 0.2 0.3 1/300 77\n");
    Says("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n");
    Says("/proc/self/cgroup", "0::/a/b\n");
    Says("/proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
    Says("/sys/fs/cgroup/a/b/pids.current", "12\n");
    Says("/sys/fs/cgroup/a/b/pids.max", "max\n");
  }
  LimitedHost& Says(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_path() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  ThreadLimit Limit() const { return ThreadLimitOfThisProcess(root_path()); }

 private:
  std::string root_path() const { return directory_.path(); }
  TempDir directory_;
};

TEST_CASE("without a limit, as many threads as one likes may be started") {
  CHECK(LimitedHost().Limit().left == UINT64_MAX);
}

TEST_CASE("the closest of several limits counts, with what is already in use") {
  LimitedHost host;
  host.Says("/proc/sys/kernel/threads-max", "1000\n");
  CHECK(host.Limit().left == 700);
  host.Says("/sys/fs/cgroup/a/b/pids.max", "60\n");
  CHECK(host.Limit().left == 48);
  CHECK(host.Limit().name == "pids.max of the control group /a/b is 60");
  host.Says("/sys/fs/cgroup/a/pids.max", "50\n").Says("/sys/fs/cgroup/a/pids.current", "50\n");
  CHECK(host.Limit().left == 0);
  CHECK(absl::EndsWith(host.Limit().shared_by, "/sys/fs/cgroup/a"));
  host.Says("/sys/fs/cgroup/a/pids.current", "55\n");  // as after lowering the limit
  CHECK(host.Limit().left == 0);
}

TEST_CASE("what needs more threads than are left is refused with the limit and with what to do") {
  const ThreadLimit limit{.left = 48,
                          .name = "pids.max of the control group /a is 60",
                          .advice = "raise it (systemd: TasksMax=)",
                          .shared_by = "/a"};
  CHECK(CheckThreads(limit, 48, "the run", "").ok());
  CHECK(CheckThreads(limit, 49, "the run", "use fewer workers").message() ==
        "the run needs 49 threads and processes, but only 48 more may be started here, because pids.max of the control "
        "group /a is 60: raise it (systemd: TasksMax=), or use fewer workers");
}

}  // namespace
}  // namespace iobench

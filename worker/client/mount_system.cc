// The kernel calls of worker/client/remount.h.
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/proc_file.h"
#include "common/program.h"
#include "worker/client/remount.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxUsersNamed = 3;

bool IsAtOrBelow(const std::string& path, const std::string& mount_point) {
  return path.starts_with(mount_point) &&
         (path.size() == mount_point.size() || path[mount_point.size()] == '/');
}

// Returns the target of a /proc link as the kernel reports it. It is not resolved, so that a server that is down does
// not block us.
std::string LinkOf(const fs::path& link) {
  std::error_code ignored;
  return fs::read_symlink(link, ignored).string();
}

// Returns what this process uses below the mount point; empty if nothing.
std::string UseBy(const fs::path& process, const std::string& mount_point) {
  for (const auto& [name, what] : {std::pair{"cwd", "its working directory"}, std::pair{"root", "its root"},
                                   std::pair{"exe", "its program"}}) {
    if (IsAtOrBelow(LinkOf(process / name), mount_point)) return what;
  }
  std::error_code ignored;
  for (const char* const directory : {"fd", "map_files"}) {
    for (const auto& entry : fs::directory_iterator(process / directory, ignored)) {
      std::string file = LinkOf(entry.path());
      if (IsAtOrBelow(file, mount_point)) return file;
    }
  }
  return "";
}

class Kernel final : public MountSystem {
 public:
  bool IsRoot() override { return ::geteuid() == 0; }

  std::string Mountinfo() override { return ReadWholeFile("/proc/self/mountinfo").value_or(""); }

  int Unmount(const std::string& mount_point) override {
    return ::umount2(mount_point.c_str(), UMOUNT_NOFOLLOW) == 0 ? 0 : errno;
  }

  int Mount(const std::string& source, const std::string& mount_point, const std::string& filesystem,
            uint64_t flags, const std::string& data) override {
    return ::mount(source.c_str(), mount_point.c_str(), filesystem.c_str(), flags, data.c_str()) == 0 ? 0
                                                                                                      : errno;
  }

  std::string MountByProgram(const std::string& source, const std::string& mount_point,
                             const std::string& filesystem, const std::string& options) override {
    const absl::Status run = RunProgram({"mount", "-t", filesystem, "-o", options, source, mount_point});
    return std::string(run.message());
  }

  std::string UsersOf(const std::string& mount_point) override {
    std::vector<std::string> users;
    size_t more = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const std::string pid = entry.path().filename().string();
      if (!std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
      const std::string use = UseBy(entry.path(), mount_point);
      if (use.empty()) continue;
      if (users.size() == kMaxUsersNamed) {
        ++more;
        continue;
      }
      std::string name = ReadWholeFile((entry.path() / "comm").string()).value_or("?");
      if (name.ends_with('\n')) name.pop_back();
      users.push_back(absl::StrCat("process ", pid, " (", name, "): ", use));
    }
    if (more > 0) users.push_back(absl::StrCat("and ", more, " more"));
    return absl::StrJoin(users, ", ");
  }

  int64_t NowNs() override { return MonotonicNowNs(); }

  void Sleep(int64_t ns) override {
    const timespec time = {.tv_sec = static_cast<time_t>(ns / kNanosPerSecond),
                           .tv_nsec = static_cast<long>(ns % kNanosPerSecond)};
    ::nanosleep(&time, nullptr);
  }
};

}  // namespace

MountSystem& RealMountSystem() {
  static Kernel kernel;
  return kernel;
}

}  // namespace iobench

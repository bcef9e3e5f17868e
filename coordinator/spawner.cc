#include "coordinator/spawner.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int64_t kPatienceNs = 5 * kNanosPerSecond;

}  // namespace

absl::StatusOr<SocketDirectory> SocketDirectory::Make() {
  const char* temporary = getenv("TMPDIR");
  // A Unix socket's path may have 107 characters: a long TMPDIR is no use.
  std::string pattern =
      temporary != nullptr && *temporary != '\0' && std::string(temporary).size() < 60 ? temporary : "/tmp";
  pattern += "/cluster-iobench-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return ErrnoStatus(absl::StrCat("cannot make a directory ", pattern), errno);
  return SocketDirectory(pattern);
}

SocketDirectory::~SocketDirectory() {
  if (path_.empty()) return;
  unlink(absl::StrCat(path_, "/coordinator").c_str());
  rmdir(path_.c_str());
}

absl::StatusOr<Spawner> Spawner::Start(uint32_t count, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>("cluster-iobench")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Spawner spawner;
  const pid_t parent = getpid();
  for (uint32_t i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) return ErrnoStatus(absl::StrCat("cannot start worker ", i), errno);
    if (child == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(1);  // it died before the line above
      execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    spawner.children_.push_back(child);
  }
  return spawner;
}

std::string Spawner::Ended() {
  for (size_t i = 0; i < children_.size(); ++i) {
    int how = 0;
    if (children_[i] <= 0 || waitpid(children_[i], &how, WNOHANG) != children_[i]) continue;
    children_[i] = 0;
    if (WIFSIGNALED(how)) return absl::StrCat("worker process ", i, " was ended by signal ", WTERMSIG(how));
    return absl::StrCat("worker process ", i, " ended with exit code ", WEXITSTATUS(how));
  }
  return "";
}

Spawner::~Spawner() {
  const int64_t until_ns = MonotonicNowNs() + kPatienceNs;
  for (const pid_t child : children_) {
    if (child <= 0) continue;
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      if (MonotonicNowNs() >= until_ns) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        break;
      }
      usleep(2000);
    }
  }
}

}  // namespace iobench

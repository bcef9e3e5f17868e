#include "coordinator/launch/child_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/thread_limit.h"

namespace iobench {
namespace {

constexpr int64_t kPatienceNs = 5 * kNanosPerSecond;
constexpr int64_t kHurryNs = 300'000'000;
constexpr int64_t kKilledNs = 300'000'000;
constexpr useconds_t kLookAgainUs = 2000;

}  // namespace

std::string ChildProcesses::Ending::ForPeople() const {
  if (WIFSIGNALED(wait_status)) return absl::StrCat("signal ", WTERMSIG(wait_status));
  return absl::StrCat("exit code ", WEXITSTATUS(wait_status));
}

absl::Status ChildProcesses::Start(const std::string& program, const std::vector<std::string>& arguments,
                                   int output_fd, int death_signal, int input_fd) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  // Until the child runs its own program, a signal would go to our handlers and be lost.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  const int fork_errno = errno;
  if (child != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return Refused(absl::StrCat("start ", program), fork_errno);
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    setsid();
    prctl(PR_SET_PDEATHSIG, death_signal);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
    const int input = input_fd >= 0 ? input_fd : open("/dev/null", O_RDONLY);
    if (input >= 0) dup2(input, STDIN_FILENO);
    if (output_fd >= 0) {
      dup2(output_fd, STDOUT_FILENO);
      dup2(output_fd, STDERR_FILENO);
    }
    execvp(program.c_str(), argv.data());
    _exit(127);
  }
  children_.push_back(child);
  return absl::OkStatus();
}

void ChildProcesses::Signal(size_t index, int number) {
  if (children_[index] <= 0) return;
  // Until it has its own process group, which it creates first, it has no children.
  if (kill(-children_[index], number) != 0) kill(children_[index], number);
}

std::optional<ChildProcesses::Ending> ChildProcesses::NextEnded() {
  // If each search began at the first child, and that one hung, the endings of n others would cost n²/2 system calls.
  for (size_t looked = 0; looked < children_.size(); ++looked) {
    const size_t index = std::exchange(next_index_, (next_index_ + 1) % children_.size());
    int how = 0;
    if (children_[index] <= 0 || waitpid(children_[index], &how, WNOHANG) != children_[index]) continue;
    children_[index] = 0;
    return Ending{.index = index, .wait_status = how};
  }
  return std::nullopt;
}

ChildProcesses::~ChildProcesses() {
  for (const pid_t child : children_) {
    if (child > 0 && end_signal_ != 0) kill(child, end_signal_);
  }
  const auto all_ended = [this] {
    return std::all_of(children_.begin(), children_.end(), [](pid_t child) { return child <= 0; });
  };
  const auto wait = [&](int64_t patience_ns) {
    const int64_t until_ns = MonotonicNowNs() + patience_ns;
    while (NextEnded() || !all_ended()) {
      if (MonotonicNowNs() >= until_ns) break;
      usleep(kLookAgainUs);
    }
  };
  wait(hurries_ ? kHurryNs : kPatienceNs);
  for (const pid_t child : children_) {
    if (child > 0) kill(-child, SIGKILL);  // its whole process group
  }
  wait(kKilledNs);
}

}  // namespace iobench

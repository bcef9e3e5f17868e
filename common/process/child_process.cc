#include "common/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/thread_limit.h"
#include "common/program.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int64_t kKilledNs = 300'000'000;
constexpr useconds_t kLookAgainUs = 2000;
constexpr int kExitNotExecuted = 127;  // as of a shell

// The environment of this process, in which `variables` replace those of the same name.
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(absl::StrCat(name, "=", value));
  return environment;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The signals that were ignored when this program was started, as by nohup: what it starts ignores them, too. Not SIGCHLD,
// which would take the exit codes of its own children from a program that does not expect it (main.cc).
std::array<bool, NSIG> IgnoredNow() {
  std::array<bool, NSIG> ignored{};
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    ignored[number] = number != SIGCHLD && sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }
  return ignored;
}
// Before main, which ignores some for itself.
const std::array<bool, NSIG> ignored_at_start = IgnoredNow();

// Past the C library and sanitizers, whose tables of handlers a child may share with this process.
void ResetSignals() {
  alignas(8) constexpr char kDefault[64] = {};  // the kernel's sigaction: SIG_DFL, no flags, no mask
  constexpr size_t kMaskBytes = 8;
  for (int number = 1; number < NSIG; ++number) {
    if (!ignored_at_start[number]) syscall(SYS_rt_sigaction, number, kDefault, nullptr, kMaskBytes);
  }
}

// In the child, which may share this process's memory until it runs its program: only system calls.
[[noreturn]] void RunProgramOf(const ChildStart& start, pid_t parent, char* const* argv, char* const* environment) {
  ResetSignals();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  if (start.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, start.death_signal);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
  }
  const int input = start.input_fd >= 0 ? start.input_fd : open("/dev/null", O_RDONLY);
  if (input >= 0) dup2(input, STDIN_FILENO);
  if (start.input_fd < 0 && input > STDERR_FILENO) close(input);
  if (start.output_fd >= 0) {
    dup2(start.output_fd, STDOUT_FILENO);
    dup2(start.output_fd, STDERR_FILENO);
  }
  execvpe(start.program.c_str(), argv, environment);
  _exit(kExitNotExecuted);
}

}  // namespace

int Ending::exit_code() const {
  return wait_status_.has_value() && WIFEXITED(*wait_status_) ? WEXITSTATUS(*wait_status_) : -1;
}

std::string Ending::Text() const {
  return wait_status_.has_value() ? EndingText(*wait_status_) : "an unknown exit code";
}

absl::StatusOr<ChildProcess> ChildProcess::Start(const ChildStart& start) {
  std::vector<std::string> arguments = start.arguments, environment = EnvironmentWith(start.variables);
  const std::vector<char*> argv = PointersTo(arguments), variables = PointersTo(environment);
  const pid_t parent = getpid();
  // Until the child runs its own program, a signal would go to our handlers and be lost.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // fork() copies the page tables of a large coordinator, and pages that a network card reads could move.
  const pid_t child = start.is_one_of_many ? fork() : vfork();
  if (child == 0) RunProgramOf(start, parent, argv.data(), variables.data());
  const int fork_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return Refused(absl::StrCat("start ", start.program), fork_errno);
  return ChildProcess(child);
}

absl::StatusOr<ChildProcess> ChildProcess::StartCommand(const std::string& command,
                                                        const std::map<std::string, std::string>& variables,
                                                        int output_fd) {
  return Start({.program = "/bin/sh",
                .arguments = {"sh", "-c", command},
                .variables = variables,
                .output_fd = output_fd});
}

bool ChildProcess::Ended() {
  if (process_ < 0) return true;
  int wait_status = 0;
  const pid_t ended = waitpid(process_, &wait_status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  if (ended == process_) ending_ = Ending(wait_status);  // otherwise ECHILD: its exit code is lost
  process_ = -1;
  return true;
}

void ChildProcess::Signal(int number) {
  if (process_ < 0) return;
  // Until it has its own process group, which it creates first, it has no children.
  if (kill(-process_, number) != 0) kill(process_, number);
}

void ChildProcess::SignalAlone(int number) {
  if (process_ >= 0) kill(process_, number);
}

void ChildProcess::KillGroup() {
  if (process_ < 0) return;
  Signal(SIGKILL);
  // Nothing pings the workers meanwhile. A command that hangs in the kernel may take longer than their leases.
  const int64_t until_ns = MonotonicNowNs() + kKilledNs;
  while (!Ended() && MonotonicNowNs() < until_ns) usleep(kLookAgainUs);
  LetGo();
}

}  // namespace iobench

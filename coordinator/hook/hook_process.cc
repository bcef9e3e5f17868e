#include "coordinator/hook/hook_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int64_t kKilledNs = 300'000'000;
constexpr useconds_t kLookAgainUs = 2000;

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

}  // namespace

absl::StatusOr<HookProcess> HookProcess::Start(const std::string& command,
                                               const std::map<std::string, std::string>& variables,
                                               const std::string& log_file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Signals that this program ignores or blocks would otherwise be ignored or blocked there too.
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A session of its own is a process group of its own, and keeps Ctrl-C in the terminal away from it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> words = {"sh", "-c", command}, environment = EnvironmentWith(variables);
  pid_t process = -1;
  const int error = posix_spawn(&process, "/bin/sh", &actions, &attributes, PointersTo(words).data(),
                                PointersTo(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return ErrnoStatus(absl::StrCat("start `", command, "` with its output in ", log_file), error);
  return HookProcess(process);
}

bool HookProcess::Ended() {
  if (process_ < 0) return true;
  int wait_status = 0;
  const pid_t ended = waitpid(process_, &wait_status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  if (ended == process_) wait_status_ = wait_status;  // otherwise ECHILD: its exit code is lost
  process_ = -1;
  return true;
}

absl::Status HookProcess::Outcome() const {
  if (!wait_status_.has_value()) return absl::InternalError("an unknown exit code");
  if (*wait_status_ == 0) return absl::OkStatus();
  return absl::InternalError(WIFEXITED(*wait_status_) ? absl::StrCat("exit code ", WEXITSTATUS(*wait_status_))
                                                      : absl::StrCat("signal ", WTERMSIG(*wait_status_)));
}

void HookProcess::KillGroup() {
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  // Nothing pings the workers meanwhile. A command that hangs in the kernel may take longer than their leases.
  const int64_t until_ns = MonotonicNowNs() + kKilledNs;
  while (!Ended() && MonotonicNowNs() < until_ns) usleep(kLookAgainUs);
  process_ = -1;
}

}  // namespace iobench

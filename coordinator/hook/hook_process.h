// A command of the user that runs between phases, with its own process group, environment and log.
#ifndef COORDINATOR_HOOK_HOOK_PROCESS_H_
#define COORDINATOR_HOOK_HOOK_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

// Not thread-safe. The destructor kills the command, with everything that it started and that stayed in its process
// group, unless it has ended by itself. What a command leaves in the background when it ends goes on.
class HookProcess {
 public:
  // Starts `/bin/sh -c COMMAND` with this process's environment and `variables`; standard input is /dev/null, both
  // outputs go to `log_file`, which is replaced. The error has the errno.
  static absl::StatusOr<HookProcess> Start(const std::string& command,
                                           const std::map<std::string, std::string>& variables,
                                           const std::string& log_file);
  HookProcess(HookProcess&& other) noexcept
      : process_(std::exchange(other.process_, -1)), wait_status_(other.wait_status_) {}
  HookProcess& operator=(HookProcess&&) = delete;
  ~HookProcess() { KillGroup(); }

  // Returns whether the command has ended, or KillGroup has let go of it. Does not wait.
  bool Ended();
  // OK if it ended with 0; otherwise Internal: "exit code 3", "signal 9", "an unknown exit code". REQUIRES: Ended()
  // returned true.
  absl::Status Outcome() const;
  // Kills the process group of a command that has not ended, and waits up to 0.3 s for the command itself. One that
  // hangs in the kernel is left to end later; its exit code is unknown.
  void KillGroup();

 private:
  explicit HookProcess(pid_t process) : process_(process) {}

  pid_t process_ = -1;              // -1: it has ended, or was let go of
  std::optional<int> wait_status_;  // as returned by waitpid; nullopt: it has not ended, or how is unknown
};

}  // namespace iobench

#endif  // COORDINATOR_HOOK_HOOK_PROCESS_H_

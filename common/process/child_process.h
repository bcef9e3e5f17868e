// A process that this one starts and reaps: a worker on this host, a remote shell, a command of the user.
#ifndef COMMON_PROCESS_CHILD_PROCESS_H_
#define COMMON_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace iobench {

struct ChildStart {
  std::string program;                           // searched in PATH if it contains no slash
  std::vector<std::string> arguments;            // the first is its name
  std::map<std::string, std::string> variables;  // added to this process's environment, or in place of those there
  int input_fd = -1;                             // becomes its stdin; -1: /dev/null
  int output_fd = -1;                            // receives its stdout and stderr; -1: it inherits ours
  int death_signal = 0;                          // that it gets if this process dies without ending it; 0: none
  // Many are started one after the other: Start does not wait until the program runs, which takes 7 ms on a busy host.
  // Otherwise it does, and in return does not copy the page tables of this process.
  bool is_one_of_many = false;
};

// How a process ended.
class Ending {
 public:
  // `wait_status`: as returned by waitpid; nullopt: another reaped it, so that its exit code is lost.
  explicit Ending(std::optional<int> wait_status) : wait_status_(wait_status) {}

  bool well() const { return wait_status_ == 0; }
  int exit_code() const;    // -1: a signal ended it, or how it ended is unknown
  std::string Text() const;  // "exit code 2", "signal 9 (KILL)", "an unknown exit code"

 private:
  std::optional<int> wait_status_;
};

// Not thread-safe. A child has its own session, which is its own process group, so that Ctrl-C in the terminal reaches
// only this process and no child can ask for a password. It ignores the signals that were ignored when this program was
// started, as by nohup; others reach it, whether this process ignores or blocks them or not. The destructor kills a child that has not ended, with everything that it started and that stayed in its process group.
// What it leaves in the background when it ends goes on.
class ChildProcess {
 public:
  // The error has the errno of a failed fork. A program that cannot be executed shows only later, as exit code 127.
  static absl::StatusOr<ChildProcess> Start(const ChildStart& start);
  // Starts `/bin/sh -c COMMAND`; both outputs go to `output_fd`. The error has the errno.
  static absl::StatusOr<ChildProcess> StartCommand(const std::string& command,
                                                   const std::map<std::string, std::string>& variables,
                                                   int output_fd);
  ChildProcess(ChildProcess&& other) noexcept
      : process_(std::exchange(other.process_, -1)), ending_(std::move(other.ending_)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() { KillGroup(); }

  pid_t id() const { return process_; }  // -1: it has ended, or was let go of
  // Returns whether it has ended, or was let go of. Does not wait.
  bool Ended();
  // REQUIRES: Ended() returned true.
  const Ending& ending() const { return ending_; }
  // Sends `number` to it and to those of its children that stayed in its process group, unless it has ended.
  void Signal(int number);
  void SignalAlone(int number);  // only to itself
  // Kills the process group of a child that has not ended, and waits up to 0.3 s for the child itself. One that hangs in
  // the kernel is let go of.
  void KillGroup();
  // A child that has not ended is left to end later; how it ended remains unknown.
  void LetGo() { process_ = -1; }

 private:
  explicit ChildProcess(pid_t process) : process_(process) {}

  pid_t process_ = -1;  // -1: it has ended, or was let go of
  Ending ending_{std::nullopt};
};

}  // namespace iobench

#endif  // COMMON_PROCESS_CHILD_PROCESS_H_

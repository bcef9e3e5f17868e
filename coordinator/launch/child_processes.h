// Child processes that end together with this process: workers on this host, remote shells.
#ifndef COORDINATOR_LAUNCH_CHILD_PROCESSES_H_
#define COORDINATOR_LAUNCH_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// Not thread-safe. Each child has its own session, so that Ctrl-C in the terminal reaches only this process and no
// child can ask for a password. It gets a signal when this process dies.
class ChildProcesses {
 public:
  // `end_signal`: the signal that the destructor sends to children that are still running; 0: they end on their own.
  explicit ChildProcesses(int end_signal = 0) : end_signal_(end_signal) {}
  ChildProcesses(ChildProcesses&& other) noexcept
      : end_signal_(other.end_signal_),
        hurries_(other.hurries_),
        children_(std::move(other.children_)),
        next_index_(std::exchange(other.next_index_, 0)) {
    other.children_.clear();
  }
  ChildProcesses& operator=(ChildProcesses&&) = delete;
  // Waits up to five seconds (0.3 s after Hurry) for all children to end, then kills the remaining ones together with
  // their own children (those that stayed in the child's process group). A child that hangs in the kernel is left to
  // end later.
  ~ChildProcesses();

  void Hurry() { hurries_ = true; }

  // Starts `program` (searched in PATH if it contains no slash) with `arguments`, the first of which is its name.
  // `output_fd` receives its stdout and stderr; -1: it inherits ours. `input_fd` becomes its stdin; -1: /dev/null.
  // `death_signal`: the signal it gets if this process dies without cleaning up. Children are indexed from 0 in the
  // order of Start calls. The error has the errno of a failed fork; a program that cannot be executed shows only later,
  // as exit code 127.
  absl::Status Start(const std::string& program, const std::vector<std::string>& arguments, int output_fd,
                     int death_signal, int input_fd = -1);

  // Sends `number` to child `index` and those of its children that stayed in its process group, unless it has ended.
  void Signal(size_t index, int number);

  // How a child ended.
  struct Ending {
    size_t index = 0;
    int wait_status = 0;  // as returned by waitpid

    bool well() const { return wait_status == 0; }
    std::string ForPeople() const;  // "exit code 2", "signal 9"
  };
  // Returns a child that has ended and was not returned before, or nullopt. Does not wait. Looks at the children in
  // turn: calls until nullopt make about two system calls for each running child.
  std::optional<Ending> NextEnded();

 private:
  int end_signal_;
  bool hurries_ = false;
  std::vector<pid_t> children_;  // 0: has ended
  size_t next_index_ = 0;        // of the child at which NextEnded looks first
};

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_CHILD_PROCESSES_H_

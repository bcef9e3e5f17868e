// Child processes that end together with this process: workers on this host, remote shells.
#ifndef COORDINATOR_LAUNCH_CHILD_PROCESSES_H_
#define COORDINATOR_LAUNCH_CHILD_PROCESSES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/process/child_process.h"

namespace iobench {

// Not thread-safe. Each child is a ChildProcess that gets a signal when this process dies.
class ChildProcesses {
 public:
  // `end_signal`: the signal that the destructor sends to children that are still running; 0: they end on their own.
  explicit ChildProcesses(int end_signal = 0) : end_signal_(end_signal) {}
  ChildProcesses(ChildProcesses&& other) noexcept
      : end_signal_(other.end_signal_),
        hurries_(other.hurries_),
        children_(std::move(other.children_)),
        running_(std::exchange(other.running_, 0)),
        next_index_(std::exchange(other.next_index_, 0)) {
    other.children_.clear();
  }
  ChildProcesses& operator=(ChildProcesses&&) = delete;
  // Waits up to five seconds (0.3 s after Hurry) for all children to end, then kills the remaining ones together with
  // their own children (those that stayed in the child's process group). A child that hangs in the kernel is left to
  // end later.
  ~ChildProcesses();

  void Hurry() { hurries_ = true; }

  // Starts `program` (ChildStart). `death_signal`: the signal it gets if this process dies without cleaning up. Children
  // are indexed from 0 in the order of Start calls. Errors of ChildProcess::Start.
  absl::Status Start(const std::string& program, const std::vector<std::string>& arguments, int output_fd,
                     int death_signal, int input_fd = -1);

  // Sends `number` to child `index` and those of its children that stayed in its process group, unless it has ended.
  void Signal(size_t index, int number);

  // -1: it has ended.
  pid_t IdOf(size_t index) const { return children_[index].has_value() ? children_[index]->id() : -1; }
  size_t running() const { return running_; }

  // How a child ended.
  struct EndedChild {
    size_t index = 0;
    Ending ending;
  };
  // Returns a child that has ended and was not returned before, or nullopt. Does not wait. Looks at the children in
  // turn: calls until nullopt make about two system calls for each running child.
  std::optional<EndedChild> NextEnded();

 private:
  // Reaps until all have ended, or for this time; sleeps only while none has ended.
  void AwaitAll(int64_t patience_ns);

  int end_signal_;
  bool hurries_ = false;
  std::vector<std::optional<ChildProcess>> children_;  // nullopt: has ended
  size_t running_ = 0;                                 // of them
  size_t next_index_ = 0;                              // of the child at which NextEnded looks first
};

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_CHILD_PROCESSES_H_

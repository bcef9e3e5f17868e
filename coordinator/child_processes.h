// Processes that we start and that end with us: workers on this host, remote shells.
#ifndef COORDINATOR_CHILD_PROCESSES_H_
#define COORDINATOR_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// One thread. Each child is in a session of its own, so that the terminal's Ctrl-C reaches only us and nobody asks
// for a password on it; stdin is /dev/null; it gets a signal when we die.
class ChildProcesses {
 public:
  // `end_signal`: what the destructor asks those to end with that still run; 0: they know by themselves.
  explicit ChildProcesses(int end_signal = 0) : end_signal_(end_signal) {}
  ChildProcesses(ChildProcesses&& other) noexcept
      : end_signal_(other.end_signal_), children_(std::move(other.children_)) {
    other.children_.clear();
  }
  ChildProcesses& operator=(ChildProcesses&&) = delete;
  // Waits up to five seconds for all to end, then kills those that have not, with what they started.
  ~ChildProcesses();

  // Starts `program` (searched in PATH where it has no slash) with `arguments`, of which the first is its name.
  // `output_fd`: stdout and stderr go there; -1: they are ours. The child's index is the number of those before it.
  // `death_signal`: what it gets when we die without a word.
  absl::Status Start(const std::string& program, const std::vector<std::string>& arguments, int output_fd,
                     int death_signal);

  struct Ending {
    size_t index = 0;
    int wait_status = 0;  // as waitpid gives it

    bool well() const { return wait_status == 0; }
    std::string ForPeople() const;  // "exit code 2", "signal 9"
  };
  // A child that has ended since the last call, each once; nullopt: none.
  std::optional<Ending> NextEnded();

 private:
  int end_signal_;
  std::vector<pid_t> children_;  // 0: has ended
};

}  // namespace iobench

#endif  // COORDINATOR_CHILD_PROCESSES_H_

#include "coordinator/launch/child_processes.h"

#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr int64_t kPatienceNs = 5 * kNanosPerSecond;
constexpr int64_t kHurryNs = 300'000'000;
constexpr int64_t kKilledNs = 300'000'000;
constexpr useconds_t kLookAgainUs = 2000;

}  // namespace

absl::Status ChildProcesses::Start(const std::string& program, const std::vector<std::string>& arguments,
                                   int output_fd, int death_signal, int input_fd) {
  IOBENCH_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start({.program = program,
                                                                    .arguments = arguments,
                                                                    .variables = {},
                                                                    .input_fd = input_fd,
                                                                    .output_fd = output_fd,
                                                                    .death_signal = death_signal,
                                                                    .is_one_of_many = true}));
  children_.emplace_back(std::move(child));
  ++running_;
  return absl::OkStatus();
}

void ChildProcesses::Signal(size_t index, int number) {
  if (children_[index].has_value()) children_[index]->Signal(number);
}

std::optional<ChildProcesses::EndedChild> ChildProcesses::NextEnded() {
  // If each search began at the first child, and that one hung, the endings of n others would cost n²/2 system calls.
  for (size_t looked = 0; looked < children_.size(); ++looked) {
    const size_t index = std::exchange(next_index_, (next_index_ + 1) % children_.size());
    std::optional<ChildProcess>& child = children_[index];
    if (!child.has_value() || !child->Ended()) continue;
    const EndedChild ended{.index = index, .ending = child->ending()};
    child.reset();
    --running_;
    return ended;
  }
  return std::nullopt;
}

void ChildProcesses::AwaitAll(int64_t patience_ns) {
  const int64_t until_ns = MonotonicNowNs() + patience_ns;
  while (running_ > 0) {
    if (NextEnded().has_value()) continue;
    if (MonotonicNowNs() >= until_ns) return;
    usleep(kLookAgainUs);
  }
}

ChildProcesses::~ChildProcesses() {
  if (end_signal_ != 0) {
    for (std::optional<ChildProcess>& child : children_) {
      if (child.has_value()) child->SignalAlone(end_signal_);
    }
  }
  AwaitAll(hurries_ ? kHurryNs : kPatienceNs);
  for (std::optional<ChildProcess>& child : children_) {
    if (child.has_value()) child->Signal(SIGKILL);
  }
  AwaitAll(kKilledNs);
  for (std::optional<ChildProcess>& child : children_) {
    if (child.has_value()) child->LetGo();
  }
}

}  // namespace iobench

// The time for which a worker stays in a run without hearing from its coordinator.
#ifndef WORKER_LEASE_H_
#define WORKER_LEASE_H_

#include <algorithm>
#include <cstdint>

#include "common/time.h"

namespace iobench {

// Pure: its owner reports requests to it and calls IsOver from time to time. All times are on one clock. The silence
// between two calls counts as at most kLongestStepNs, so that time in which this process itself was stopped, with
// requests waiting to be read, does not count.
class Lease {
 public:
  static constexpr int64_t kLongestStepNs = kNanosPerSecond;
  // A worker that does no I/O can wait longer for a coordinator that is busy with results or was stopped.
  static constexpr int64_t kIdleFactor = 6;

  // Notes that a request has arrived. `lease_ms`: from a Ping; 0: unchanged.
  void Heard(uint32_t lease_ms) {
    silence_ns_ = 0;
    if (lease_ms > 0) lease_ns_ = int64_t{lease_ms} * 1'000'000;
  }
  // Returns true if the lease is over. Without a lease, it never is. `works`: the worker may do I/O: it has
  // a phase whose timed regions have not ended, fills space or validates.
  bool IsOver(int64_t now_ns, bool works) {
    const int64_t step_ns = asked_ns_ == 0 ? 0 : now_ns - asked_ns_;
    asked_ns_ = now_ns;
    silence_ns_ += std::clamp<int64_t>(step_ns, 0, kLongestStepNs);
    return lease_ns_ > 0 && silence_ns_ >= (works ? lease_ns_ : kIdleFactor * lease_ns_);
  }
  int64_t silence_ns() const { return silence_ns_; }

 private:
  int64_t lease_ns_ = 0;
  int64_t asked_ns_ = 0;
  int64_t silence_ns_ = 0;
};

}  // namespace iobench

#endif  // WORKER_LEASE_H_

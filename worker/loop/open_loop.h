// A lane's part in an open loop: it waits for the op that is due next and notes how long the op took from then on.
#ifndef WORKER_LOOP_OPEN_LOOP_H_
#define WORKER_LOOP_OPEN_LOOP_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "common/clock.h"
#include "common/histogram.h"
#include "worker/loop/arrivals.h"
#include "worker/loop/op_hook.h"

namespace iobench {

// Each lane has its own; only its thread uses it until the lane has ended. After the constructor, it allocates nothing.
//
// An op that is due while every lane is busy begins late but remains due at its own time: response = end - due (the
// latency, which the lane's recorder gets), service = end - begin, lag = begin - due (docs/definitions.md).
class OpenLoop {
 public:
  // `nap` sleeps for about its argument in ns, at most until 60 us before the op is due, since timers may be late; the
  // rest of the wait is spent polling.
  OpenLoop(std::shared_ptr<Arrivals> arrivals, const TickScale& scale, std::function<void(int64_t ns)> nap)
      : arrivals_(std::move(arrivals)), scale_(scale), nap_(std::move(nap)) {}

  // Ops that ended by this instant are not noted, as in LaneRecorder.
  void SetWarmupEnd(Ticks at) { warmup_end_ = at; }

  Ticks Take(Ticks now) { return arrivals_->Take(now); }
  void PutBack(Ticks due) { arrivals_->PutBack(due); }

  // From when the latency of an op counts. Clocks of processors differ by some ticks, so it may be due after its end.
  static Ticks CountsFrom(Ticks due, Ticks end) { return std::min(due, end); }

  void Note(Ticks due, OpTimes times) {
    if (times.end <= warmup_end_) return;
    service_.Add(scale_.DurationNs(times.end.value - times.begin.value));
    lag_.Add(scale_.DurationNs(times.begin.value - std::min(due, times.begin).value));
  }

  // How long a lane may sleep or wait for ops in flight until `due` without missing a stop, in ns; 0: poll.
  int64_t PatienceNs(Ticks due, Ticks now) const {
    constexpr int64_t kTimersAreLateNs = 60'000, kStopIsNoticedNs = 10'000'000;
    if (due <= now) return 0;
    const int64_t left_ns = static_cast<int64_t>(scale_.DurationNs(due.value - now.value)) - kTimersAreLateNs;
    return std::clamp<int64_t>(left_ns, 0, kStopIsNoticedNs);
  }
  void Nap(Ticks due, Ticks now) const { nap_(PatienceNs(due, now)); }

  // Of the ops after the warm-up, in ns.
  const Histogram& service() const { return service_; }
  const Histogram& lag() const { return lag_; }
  const Arrivals& arrivals() const { return *arrivals_; }

 private:
  const std::shared_ptr<Arrivals> arrivals_;
  const TickScale scale_;
  const std::function<void(int64_t ns)> nap_;
  Ticks warmup_end_{0};
  Histogram service_, lag_;
};

}  // namespace iobench

#endif  // WORKER_LOOP_OPEN_LOOP_H_

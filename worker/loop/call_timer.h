// Times the flush calls of a lane: fsync, fdatasync, close … The engine makes them outside the timed loop, one for each
// file; so is the clock read around them.
#ifndef WORKER_LOOP_CALL_TIMER_H_
#define WORKER_LOOP_CALL_TIMER_H_

#include <utility>

#include "common/clock.h"
#include "worker/loop/lane_recorder.h"

namespace iobench {

// Belongs to one lane and is used on its thread.
class CallTimer {
 public:
  // `recorder` must outlive it; `ticks` is the clock that its times are on.
  CallTimer(LaneRecorder& recorder, TickSource ticks) : recorder_(recorder), ticks_(ticks) {}

  // Makes the call, which may set errno, and records how long it took, whether or not it failed.
  template <typename MakeCall>
  auto Time(OpKind call, MakeCall make_call) {
    const Ticks begin = Now();
    const auto result = make_call();
    recorder_.AddCall(call, begin, Now());
    return result;
  }

 private:
  Ticks Now() const { return ticks_ == TickSource::kTsc ? TscClock::Now() : MonotonicClock::Now(); }

  LaneRecorder& recorder_;
  const TickSource ticks_;
};

// The same with a timer that may be null: then the call is only made.
template <typename MakeCall>
auto Timed(CallTimer* timer, OpKind call, MakeCall make_call) {
  return timer == nullptr ? make_call() : timer->Time(call, std::move(make_call));
}

}  // namespace iobench

#endif  // WORKER_LOOP_CALL_TIMER_H_

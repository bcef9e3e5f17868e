// The timed loop with a hook around each op: RunLoopWithHook for any clock. worker/loop/timed_loop.h declares it for
// engines; only hooked_loop.cc and tests with a clock of their own need the definition.
#ifndef WORKER_LOOP_HOOKED_LOOP_H_
#define WORKER_LOOP_HOOKED_LOOP_H_

#include "worker/loop/timed_loop.h"

namespace iobench {

// Calls the lane's OpHook around an op. A read leaves its data in the lane's buffer.
struct LaneOpHook {
  OpHook& ops;
  const std::byte* read_buffer;

  void Before(const Op& next) { ops.Before(next); }
  void NotBegun() { ops.NotBegun(); }
  void After(const Op& done, OpTimes times) {
    const bool reads = done.kind == OpKind::kRead || done.kind == OpKind::kUpdate;
    ops.After(done, reads ? read_buffer : nullptr, times);
  }
};

// Holds each op back until it is due. Its data are generated before the wait, so that this delays no op that is on
// time.
template <typename Clock>
struct OpenLoopHook {
  const LaneContext& lane;
  Ticks due{};

  void Before(const Op& next) {
    if (lane.between != nullptr) lane.between->Before(next);
    Ticks now = Clock::Now();
    due = lane.open_loop->Take(now);
    for (; now < due && !OverWhileWaiting(lane, now); now = Clock::Now()) lane.open_loop->Nap(due, now);
  }
  Ticks CountsFrom(Ticks end) const { return OpenLoop::CountsFrom(due, end); }
  void NotBegun() {
    lane.open_loop->PutBack(due);
    if (lane.between != nullptr) lane.between->NotBegun();
  }
  void After(const Op& done, OpTimes times) {
    lane.open_loop->Note(due, times);
    if (lane.between != nullptr) LaneOpHook{*lane.between, lane.read_buffer}.After(done, times);
  }
};

template <typename Clock>
LoopEnd RunLoopWithHook(LaneContext& lane, AnyOp do_op) {
  if (lane.open_loop != nullptr) return TimedLoop<Clock>(lane, do_op, OpenLoopHook<Clock>{lane});
  return TimedLoop<Clock>(lane, do_op, LaneOpHook{*lane.between, lane.read_buffer});
}

}  // namespace iobench

#endif  // WORKER_LOOP_HOOKED_LOOP_H_

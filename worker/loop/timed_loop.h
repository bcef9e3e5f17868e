// The timed loop: the only place that reads the clock around an op.
//
// Budget: 30 ns per op on top of the op itself, with histogram, latency slices, timeline and live counters always on.
// It consists of (tests/perf/timed_loop_bench, 2 GHz-class server): clock 10, histogram, slices, totals, ring and live
// counters 6, the stream's share 1 to 5.
//
// Without a hook, only the end of each op is noted. The recorder gets the ops of a batch together, at its end or at the
// next event: a system call leaves little of the recorder in the L1 cache, so one op at a time takes twice as long.
#ifndef WORKER_LOOP_TIMED_LOOP_H_
#define WORKER_LOOP_TIMED_LOOP_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "worker/loop/lane_context.h"

namespace iobench {

// Nothing runs between ops: the end of an op is the start of the next.
struct NoHook {};

// Ops are taken from the stream in batches, so that its virtual call costs little per op; 64 of them stay in the L1
// cache.
inline constexpr size_t kOpsPerBatch = 64;

// Fetches the lane's next ops and returns their number; 0: there are none. `begun_count`: the ops begun so far. Near
// the goal it shortens the batch, so that no op has to be compared with the goal. `idle`: no op is in flight; otherwise
// a pass that must be flushed first has no next op yet.
inline size_t NextBatch(LaneContext& lane, uint64_t begun_count, std::span<Op> batch, bool idle = true) {
  const uint64_t left = lane.rules.ops_goal - std::min(lane.rules.ops_goal, begun_count);
  const std::span<Op> room = batch.first(std::min<uint64_t>(batch.size(), left));
  if (room.empty()) return 0;
  const size_t count = lane.stream.Fill(room);
  if (count > 0 || !lane.rules.repeat_passes) return count;
  if (lane.pass == 0) lane.first_pass_ops_end = lane.recorder.last_end();
  if (lane.end_pass && (!idle || !lane.end_pass())) return 0;
  lane.stream.Restart(++lane.pass);
  if (lane.payload != nullptr) lane.payload->BeginPass(lane.pass);
  return lane.stream.Fill(room);
}

// Starts or continues the lane's record, for a Run whose first op begins at `begin`.
inline void BeginRecord(LaneContext& lane, Ticks begin) {
  if (!lane.resume) {
    lane.recorder.Start(begin);
  } else if (lane.resume_after_wait) {
    lane.recorder.Resume(begin);
  }
}

// Returns why the op that the lane has been waiting to begin must not begin, or nullopt if it may.
inline std::optional<LoopEnd::Reason> OverWhileWaiting(const LaneContext& lane, Ticks now) {
  if (now >= lane.rules.deadline) return LoopEnd::Reason::kDeadline;
  if (lane.stop.stop.load(std::memory_order_relaxed)) return LoopEnd::Reason::kStopped;
  return std::nullopt;
}

// Runs and records the lane's ops until the pass is complete (forever with repeat_passes), the stop flag is set, the
// deadline has passed, the goal is reached or an op fails. Starts the recorder unless lane.resume is set; the caller
// finishes it. Ops that were taken from the stream but did not complete are put back, so that the caller can run them
// later.
//
//   Clock    TscClock, MonotonicClock or a test clock. Read once per op, and once more per batch of 64 and per event,
//            so that computing the offsets and recording count in no op's latency.
//   DoOp     int64_t(const Op&): returns the bytes transferred or -errno. Anything but op.length ends the loop; kGivenUp as
//            if the op had not begun.
//   Between  The op hook: Before(const Op& next) and After(const Op& done, OpTimes) run between ops, outside their
//            latency (generate data, think, pace, verify); NotBegun() replaces After if the phase ended during Before, or the op gave up.
//            A hook costs a second clock read per op; NoHook costs nothing. A hook with Ticks CountsFrom(Ticks end)
//            says from when the latency of the op that has ended counts; otherwise it counts from its begin.
//
// The stop flag is checked before each op: an op that is in flight when it is set completes and counts. If the hook is
// still waiting at that time or at the deadline, its op does not begin and is put back.
template <typename Clock, typename DoOp, typename Between>
LoopEnd TimedLoop(LaneContext& lane, DoOp do_op, [[maybe_unused]] Between between) {
  using Reason = LoopEnd::Reason;
  constexpr bool kHasHook = !std::is_same_v<Between, NoHook>;
  OpStream& stream = lane.stream;
  LaneRecorder& recorder = lane.recorder;
  const LoopRules rules = lane.rules;
  const std::atomic<bool>& stop = lane.stop.stop;
  std::array<Op, kOpsPerBatch> batch;
  std::array<Ticks, kOpsPerBatch> ends;

  size_t count = NextBatch(lane, recorder.ops(), batch);
  Ticks begin = Clock::Now();
  BeginRecord(lane, begin);
  // Everything that is rare hides behind one comparison per op.
  Ticks rare = std::min(recorder.next_event(), rules.deadline);

  while (count > 0) {
    // Ops [recorded, i) of the batch have ended, but are not in the recorder yet. The first of them began at `begin`.
    size_t recorded = 0;
    const auto record_until = [&](size_t index) {
      const size_t length = index - recorded;
      begin = recorder.AddInRow(std::span(batch).subspan(recorded, length),
                                std::span(ends).subspan(recorded, length), begin);
      recorded = index;
    };
    for (size_t i = 0; i < count; ++i) {
      const Op& op = batch[i];
      // In a register, because the call evicts the batch from the L1 cache.
      const auto length = static_cast<int64_t>(op.length);
      if (stop.load(std::memory_order_relaxed)) [[unlikely]] {
        record_until(i);
        stream.Unread(count - i);
        return {.reason = Reason::kStopped};
      }
      if constexpr (kHasHook) {
        between.Before(op);
        const Ticks ready = Clock::Now();
        lane.hook_ticks += ready.value - begin.value;
        begin = ready;
        if (const std::optional<Reason> over = OverWhileWaiting(lane, ready)) [[unlikely]] {
          between.NotBegun();
          recorder.RecordWaitedUntil(ready);
          stream.Unread(count - i);
          return {.reason = *over};
        }
      }
      const int64_t moved = do_op(op);
      const Ticks end = Clock::Now();
      if (moved != length) [[unlikely]] {
        record_until(i);
        if (moved == kGivenUp) {
          if constexpr (kHasHook) between.NotBegun();
          recorder.RecordWaitedUntil(end);
          stream.Unread(count - i);
          return {.reason = OverWhileWaiting(lane, end).value_or(Reason::kStopped)};
        }
        RecordFailedOp(lane, op, moved, end);
        stream.Unread(count - i);
        return {.reason = Reason::kFailed,
                .errno_value = moved < 0 ? static_cast<int>(-moved) : 0,
                .failed_op = op,
                .put_back = true,
                .transferred = std::max<int64_t>(moved, 0)};
      }
      ends[i] = end;
      if (!kHasHook && end < rare) [[likely]]
        continue;
      if (end >= rare) {
        record_until(i);
        recorder.BeforeEvent(end);
      }
      const Ticks op_begin = begin;
      if constexpr (requires { between.CountsFrom(end); }) begin = between.CountsFrom(end);
      record_until(i + 1);
      if constexpr (kHasHook) between.After(op, {op_begin, end});
      if (end < rare) continue;
      if (end >= recorder.next_event()) recorder.Event(op_begin, end);
      if (end >= rules.deadline) {
        stream.Unread(count - i - 1);
        return {.reason = Reason::kDeadline};
      }
      rare = std::min(recorder.next_event(), rules.deadline);
      if constexpr (!kHasHook) begin = Clock::Now();
    }
    record_until(count);
    count = NextBatch(lane, recorder.ops(), batch);
    if (!kHasHook || lane.end_pass) begin = Clock::Now();
    if (lane.end_pass && begin >= rules.deadline) {  // it passed during the flush of a pass
      stream.Unread(count);
      return {.reason = Reason::kDeadline};
    }
  }
  return {.reason = recorder.ops() >= rules.ops_goal ? Reason::kGoal : Reason::kDone};
}

// An op functor of any engine, called indirectly.
using AnyOp = absl::FunctionRef<int64_t(const Op&)>;

// Runs TimedLoop with the lane's op hook or open loop. REQUIRES: it has one of them. Compiled once for all engines,
// because the indirect call costs less than the second clock read.
template <typename Clock>
LoopEnd RunLoopWithHook(LaneContext& lane, AnyOp do_op);
extern template LoopEnd RunLoopWithHook<TscClock>(LaneContext& lane, AnyOp do_op);
extern template LoopEnd RunLoopWithHook<MonotonicClock>(LaneContext& lane, AnyOp do_op);

// Runs TimedLoop as the lane's context asks. The choice is made once per phase.
template <typename Clock, typename DoOp>
LoopEnd RunLoop(LaneContext& lane, DoOp do_op) {
  if (lane.open_loop != nullptr || lane.between != nullptr) {
    return RunLoopWithHook<Clock>(lane, [&do_op](const Op& op) { return do_op(op); });
  }
  return TimedLoop<Clock>(lane, std::move(do_op), NoHook{});
}

}  // namespace iobench

#endif  // WORKER_LOOP_TIMED_LOOP_H_

// The timed loop for engines with a queue, where a lane has several ops in flight. It follows the same rules as
// worker/loop/timed_loop.h does for one op at a time.
//
// Budget on top of the queue itself: 20 ns per op if many ops end in one turn, 50 ns if one does. The latter is typical
// of devices, where a turn is a system call that waits anyway. The clock is read twice around each turn instead of once
// per op, so that neither generating data nor recording counts in any op's latency. Measured
// (tests/perf/timed_loop_bench, 2 GHz-class server, random order): 13 ns with 32 ops per turn, 49 ns with one.
#ifndef WORKER_LOOP_QUEUED_LOOP_H_
#define WORKER_LOOP_QUEUED_LOOP_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "worker/loop/lane_context.h"
#include "worker/loop/timed_loop.h"

namespace iobench {

// A completed op: `moved` is the bytes transferred or -errno.
struct OpEnd {
  uint32_t slot = 0;
  int64_t moved = 0;
};

// The loop's state of the ops in flight, by slot. Allocated before the start, because the loop must not allocate. Each
// lane has its own.
class OpSlots {
 public:
  explicit OpSlots(uint32_t depth)
      : in_slot_(depth), free_(depth), begun_(depth), ends_(depth), unseen_(depth) {
    assert(depth > 0);
    // Taken from the back: slot 0 first.
    for (uint32_t i = 0; i < depth; ++i) free_[i] = depth - 1 - i;
    free_count_ = depth;
  }
  uint32_t depth() const { return static_cast<uint32_t>(in_slot_.size()); }

 private:
  template <typename Clock, typename Queue, typename Between>
  friend LoopEnd QueuedLoop(LaneContext& lane, OpSlots& slots, Queue& queue, Between between);

  struct InSlot {
    Op op;
    Ticks begin;
  };
  std::vector<InSlot> in_slot_;
  std::vector<uint32_t> free_;    // a stack of free_count_ slots
  std::vector<uint32_t> begun_;   // slots whose ops begin with the next turn
  std::vector<OpEnd> ends_;       // ops that ended in the last turn
  std::vector<uint32_t> unseen_;  // a ring: ended ops that the hook has not seen yet
  uint32_t free_count_ = 0;
};

// Calls the lane's OpHook around an op whose data is in its slot.
template <typename Queue>
struct SlotHook {
  OpHook& ops;
  const Queue& queue;

  void Before(const Op& next) { ops.Before(next); }
  void NotBegun() { ops.NotBegun(); }
  void After(const Op& done, uint32_t slot) {
    ops.After(done, done.kind == OpKind::kRead ? queue.DataOf(slot) : nullptr);
  }
};

// Runs the lane's ops, as many at a time as there are slots, until the pass is complete (forever with repeat_passes),
// the stop flag is set, the deadline has passed, the goal is reached or an op fails. In every case it waits for the ops
// in flight, which count. The first failure in the order of ends is reported; failed ops count nowhere. Ops that were
// taken from the stream but not begun are put back; a failed op is not.
//
//   Clock    As in TimedLoop.
//   Queue    void Prepare(uint32_t slot, const Op&): does everything that can be done before the op begins, including
//            its data.
//            size_t Turn(bool wait, std::span<OpEnd> ends): begins the ops prepared since the last turn; with `wait`,
//            blocks until one has ended. Writes the ended ops in the order of their ends and returns their number. Each
//            op ends exactly once, in any order. With `wait`, it may still return 0 if interrupted.
//            const std::byte* DataOf(uint32_t slot) const: the data of a completed read, valid until the slot's next
//            Prepare.
//   Between  The op hook: Before(const Op&), NotBegun() and After(const Op&, uint32_t slot), as in TimedLoop. After is
//            called in the order of ends. The hook shares the thread with the queue, which is polled after each call,
//            so an end is noticed late by at most one call of each. With NoHook, all free slots begin in one turn;
//            otherwise each op begins in its own turn.
//
// An op lasts from the turn that begins it (the clock is read after Prepare) to the turn that ends it. Ops that end in
// the same turn have the same end time, since nothing outside the queue can know their exact ends.
template <typename Clock, typename Queue, typename Between>
LoopEnd QueuedLoop(LaneContext& lane, OpSlots& slots, Queue& queue, [[maybe_unused]] Between between) {
  using Reason = LoopEnd::Reason;
  constexpr bool kAside = !std::is_same_v<Between, NoHook>;
  OpStream& stream = lane.stream;
  LaneRecorder& recorder = lane.recorder;
  const LoopRules rules = lane.rules;
  assert(slots.free_count_ == slots.depth());
  std::array<Op, kOpsPerBatch> batch;
  size_t batch_count = 0;
  size_t batch_next = 0;
  uint32_t in_flight = 0;
  [[maybe_unused]] size_t unseen_first = 0;
  [[maybe_unused]] size_t unseen_count = 0;
  LoopEnd result;
  bool ending = false;    // no further ops begin
  bool draining = false;  // no further ops begin before the pass is flushed, which waits for those in flight

  const auto end_for = [&](Reason reason) {
    ending = true;
    result.reason = reason;
  };
  const auto another_may_begin = [&]() -> bool {
    if (ending) return false;
    if (batch_next == batch_count) {
      const bool idle = in_flight == 0;
      batch_count = NextBatch(lane, recorder.ops() + in_flight, batch, idle);
      batch_next = 0;
      if (batch_count == 0) {
        draining = lane.end_pass && !idle;
        ending = !draining;
        return false;
      }
      draining = false;
      if (lane.end_pass && Clock::Now() >= rules.deadline) {  // it came during the flush of a pass
        end_for(Reason::kDeadline);
        return false;
      }
    }
    if (lane.stop.stop.load(std::memory_order_relaxed)) [[unlikely]] {
      end_for(Reason::kStopped);
      return false;
    }
    return true;
  };

  batch_count = NextBatch(lane, recorder.ops() + in_flight, batch);
  ending = batch_count == 0;
  lane.resume ? recorder.Resume(Clock::Now()) : recorder.Start(Clock::Now());
  Ticks rare = std::min(recorder.next_event(), rules.deadline);

  for (;;) {
    size_t begun_count = 0;
    while (slots.free_count_ > 0 && another_may_begin()) {
      const Op& op = batch[batch_next++];
      if constexpr (kAside) {
        const Ticks aside = Clock::Now();
        between.Before(op);
        const Ticks ready = Clock::Now();
        lane.hook_ticks += ready.value - aside.value;
        if (const std::optional<Reason> over = OverWhileWaiting(lane, ready)) [[unlikely]] {
          between.NotBegun();
          recorder.NoteWaitedUntil(ready);
          --batch_next;
          end_for(*over);
          break;
        }
      }
      const uint32_t slot = slots.free_[--slots.free_count_];
      slots.in_slot_[slot].op = op;
      queue.Prepare(slot, op);
      slots.begun_[begun_count++] = slot;
      ++in_flight;
      if constexpr (kAside) break;
    }

    if (in_flight > 0) {
      const Ticks begin = Clock::Now();
      for (size_t i = 0; i < begun_count; ++i) slots.in_slot_[slots.begun_[i]].begin = begin;
      bool wait = true;
      if constexpr (kAside) wait = unseen_count == 0 && (slots.free_count_ == 0 || ending || draining);
      const size_t end_count = queue.Turn(wait, slots.ends_);
      const Ticks end = Clock::Now();
      if (end_count > 0 && end >= rare) [[unlikely]] recorder.BeforeEvent(end);
      for (size_t i = 0; i < end_count; ++i) {
        const OpEnd& ended = slots.ends_[i];
        const auto& [op, op_begin] = slots.in_slot_[ended.slot];
        --in_flight;
        if (ended.moved != static_cast<int64_t>(op.length)) [[unlikely]] {
          slots.free_[slots.free_count_++] = ended.slot;
          if (result.reason == Reason::kFailed) continue;
          end_for(Reason::kFailed);
          result.errno_value = ended.moved < 0 ? static_cast<int>(-ended.moved) : 0;
          result.failed_op = op;
          result.transferred = std::max<int64_t>(ended.moved, 0);
          continue;
        }
        recorder.Add(op.kind, op_begin, end, op.length);
        if constexpr (kAside) {
          slots.unseen_[(unseen_first + unseen_count++) % slots.unseen_.size()] = ended.slot;
        } else {
          slots.free_[slots.free_count_++] = ended.slot;
        }
      }
      // Once for all that ended together, so that a point of the timeline never holds a part of them.
      if (recorder.last_end() >= rare) [[unlikely]] {
        if (end >= recorder.next_event()) recorder.Event(begin, end);
        if (end >= rules.deadline && !ending) end_for(Reason::kDeadline);
        rare = ending ? recorder.next_event() : std::min(recorder.next_event(), rules.deadline);
      }
    } else if (!kAside || unseen_count == 0) {
      break;
    }

    if constexpr (kAside) {
      if (unseen_count > 0) {
        const uint32_t slot = slots.unseen_[unseen_first];
        unseen_first = (unseen_first + 1) % slots.unseen_.size();
        --unseen_count;
        const Ticks aside = Clock::Now();
        between.After(slots.in_slot_[slot].op, slot);
        lane.hook_ticks += Clock::Now().value - aside.value;
        slots.free_[slots.free_count_++] = slot;
      }
    }
  }
  stream.Unread(batch_count - batch_next);
  if (result.reason == Reason::kDone && recorder.ops() >= rules.ops_goal) result.reason = Reason::kGoal;
  return result;
}

// Runs QueuedLoop with the lane's op hook. The choice is made once per phase.
template <typename Clock, typename Queue>
LoopEnd RunQueue(LaneContext& lane, OpSlots& slots, Queue& queue) {
  if (lane.between == nullptr) return QueuedLoop<Clock>(lane, slots, queue, NoHook{});
  return QueuedLoop<Clock>(lane, slots, queue, SlotHook<Queue>{*lane.between, queue});
}

}  // namespace iobench

#endif  // WORKER_LOOP_QUEUED_LOOP_H_

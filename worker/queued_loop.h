// The timed loop of engines with a queue: several ops of a lane are in flight at once. What worker/timed_loop.h is for
// one op after the other, with the same rules.
//
// Budget over what the queue itself takes: 20 ns an op where many end a turn, 50 ns where one does, which is the case
// of a device, and then a turn is a system call that waits. Two clock reads stand around each turn instead of one at
// each op, so that neither making data nor writing down what has ended is in any op's latency
// (tests/perf/timed_loop_bench, 2 GHz-class server, random order: 32 ops a turn 13 ns, one op a turn 49 ns).
#ifndef WORKER_QUEUED_LOOP_H_
#define WORKER_QUEUED_LOOP_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "worker/lane_context.h"
#include "worker/timed_loop.h"

namespace iobench {

// An op that a queue has finished: bytes moved, or -errno.
struct OpEnd {
  uint32_t slot = 0;
  int64_t moved = 0;
};

// What the loop keeps of the ops in flight, by slot. Made before the start: the loop allocates nothing. One lane's.
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
  std::vector<uint32_t> free_;    // a stack of free_count_
  std::vector<uint32_t> begun_;   // slots that begin with the next turn
  std::vector<OpEnd> ends_;       // of the last turn
  std::vector<uint32_t> unseen_;  // a ring: ended, and Between has not seen them yet
  uint32_t free_count_ = 0;
};

// What the lane's BetweenOps do around an op whose data stand in its slot.
template <typename Queue>
struct SlotBetween {
  BetweenOps& ops;
  const Queue& queue;

  void Before(const Op& next) { ops.Before(next); }
  void NotBegun() { ops.NotBegun(); }
  void After(const Op& done, uint32_t slot) {
    ops.After(done, done.kind == OpKind::kRead ? queue.DataOf(slot) : nullptr);
  }
};

// Runs the lane's ops, as many at once as there are slots, until the pass is complete (for ever, with repeat_passes),
// the stop cell is set, the deadline passed, the goal reached or an op failed. Whatever ends it, ops in flight are
// waited for and count. The first failure in order of ends is reported, and its op counts nowhere. Ops that were taken
// from the stream but not begun are given back; one that failed is not.
//
//  Clock    As in TimedLoop.
//  Queue    void Prepare(uint32_t slot, const Op&): all that can be done before the op begins, its data included.
//           size_t Turn(bool wait, std::span<OpEnd> ends): begins the ops that were prepared since the last turn; with
//           `wait`, waits until one has ended. Returns how many ends it wrote, in their order; each op once, in no
//           order that the loop would know. `wait` may return 0 when it was disturbed.
//           const std::byte* DataOf(uint32_t slot) const: of a read that has ended, until the next Prepare of the slot.
//  Between  Before(const Op&), NotBegun() and After(const Op&, uint32_t slot), as in TimedLoop. After comes in the order of ends.
//           They share the thread with the queue, which is looked at after each of them: an end is noted late by at
//           most one of each. With NoBetween all free slots begin in one turn; else each op in a turn of its own.
//
// An op runs from the turn that begins it (its clock read stands after Prepare) to the turn that ended it: ops that end
// in one turn end at the same instant, which is all that anybody outside the queue can know.
template <typename Clock, typename Queue, typename Between>
LoopEnd QueuedLoop(LaneContext& lane, OpSlots& slots, Queue& queue, [[maybe_unused]] Between between) {
  using Reason = LoopEnd::Reason;
  constexpr bool kAside = !std::is_same_v<Between, NoBetween>;
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
  bool ending = false;    // nothing begins any more
  bool draining = false;  // nor before the flush of the pass, which waits for what is in flight

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
        lane.between_ticks += ready.value - aside.value;
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
        lane.between_ticks += Clock::Now().value - aside.value;
        slots.free_[slots.free_count_++] = slot;
      }
    }
  }
  stream.Unread(batch_count - batch_next);
  if (result.reason == Reason::kDone && recorder.ops() >= rules.ops_goal) result.reason = Reason::kGoal;
  return result;
}

// QueuedLoop with what the lane wants between its ops: chosen once a phase.
template <typename Clock, typename Queue>
LoopEnd RunQueue(LaneContext& lane, OpSlots& slots, Queue& queue) {
  if (lane.between == nullptr) return QueuedLoop<Clock>(lane, slots, queue, NoBetween{});
  return QueuedLoop<Clock>(lane, slots, queue, SlotBetween<Queue>{*lane.between, queue});
}

}  // namespace iobench

#endif  // WORKER_QUEUED_LOOP_H_

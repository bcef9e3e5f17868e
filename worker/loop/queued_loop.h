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

#include "common/memory/own_lines.h"
#include "worker/loop/lane_context.h"
#include "worker/loop/timed_loop.h"

namespace iobench {

// A completed op as the queue reports it: `moved` is the number of bytes transferred or -errno.
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
  friend class QueuedRun;

  // `begin` is valid from the turn that begins the op.
  struct InSlot {
    Op op;
    Ticks begin;
    Ticks due;  // open loop only
  };
  struct Unseen {
    uint32_t slot = 0;
    Ticks end;
  };
  template <typename T>
  using Own = std::vector<T, OwnLinesAllocator<T>>;
  Own<InSlot> in_slot_;
  Own<uint32_t> free_;   // a stack of free_count_ slots
  Own<uint32_t> begun_;  // slots whose ops begin with the next turn
  Own<OpEnd> ends_;      // ops that ended in the last turn
  Own<Unseen> unseen_;   // a ring: ended ops that the hook has not seen yet
  uint32_t free_count_ = 0;
};

// Calls the lane's OpHook around an op whose data is in its slot. Engines with a queue have no updates, so only reads
// have data to show.
template <typename Queue>
struct SlotHook {
  OpHook& ops;
  const Queue& queue;

  void Before(const Op& next) { ops.Before(next); }
  void NotBegun() { ops.NotBegun(); }
  void After(const Op& done, uint32_t slot, OpTimes times) {
    ops.After(done, done.kind == OpKind::kRead ? queue.DataOf(slot) : nullptr, times);
  }
};

// Holds each op of an open loop back until it is due, while ops in flight continue to end.
template <typename Clock, typename Queue>
struct OpenSlotHook {
  LaneContext& lane;
  const Queue& queue;
  bool op_waits = false;
  Ticks due{};  // of the op that waits

  // Makes `next` the op that waits, unless it already is. Generates its data first.
  void Hold(const Op& next) {
    if (op_waits) return;
    Ticks now = Clock::Now();
    if (lane.between != nullptr) {
      const Ticks aside = now;
      lane.between->Before(next);
      now = Clock::Now();
      lane.hook_ticks += now.value - aside.value;
    }
    due = lane.open_loop->Take(now);
    op_waits = true;
  }
  Ticks PopDue() {
    op_waits = false;
    return due;
  }
  void NotBegun() {
    if (!op_waits) return;
    lane.open_loop->PutBack(PopDue());
    if (lane.between != nullptr) lane.between->NotBegun();
  }
  void After(const Op& done, uint32_t slot, OpTimes times, Ticks due_at) {
    lane.open_loop->Note(due_at, times);
    if (lane.between != nullptr) SlotHook<Queue>{*lane.between, queue}.After(done, slot, times);
  }
};

// One run of QueuedLoop (below). All of it is inlined, so that its members stay in registers like local variables: no
// function may let `this` escape, which is why the batch, whose address the stream gets, is kept outside.
template <typename Clock, typename Queue, typename Between>
class QueuedRun {
 public:
  using Batch = std::array<Op, kOpsPerBatch>;

  [[gnu::always_inline]] QueuedRun(LaneContext& lane, OpSlots& slots, Queue& queue, Between between,
                                   Batch& batch)
      : lane_(lane), slots_(slots), queue_(queue), between_(between), batch_(batch), rules_(lane.rules) {
    assert(slots.free_count_ == slots.depth());
  }

  // Each turn of the loop prepares ops, gives the queue one turn, and shows the hook one ended op. It ends when no op
  // is in flight and none is left to show.
  [[gnu::always_inline]] LoopEnd Run() {
    Start();
    for (;;) {
      const size_t begun_count = PrepareOps();
      if (in_flight_ > 0) {
        TurnQueue(begun_count);
      } else if (unseen_count_ == 0) {
        if (!awaits_due_) break;
        if constexpr (kOpen) lane_.open_loop->Nap(between_.due, Clock::Now());
      }
      if constexpr (kAside) ShowEndedOp();
    }
    if constexpr (kOpen) between_.NotBegun();
    lane_.stream.Unread(batch_count_ - batch_next_);
    const bool at_goal = recorder().ops() >= rules_.ops_goal;
    if (result_.reason == Reason::kDone && at_goal) result_.reason = Reason::kGoal;
    return result_;
  }

 private:
  using Reason = LoopEnd::Reason;
  // Something is done between ops, so each op begins in a turn of its own and the clock is read around the hook.
  static constexpr bool kAside = !std::is_same_v<Between, NoHook>;
  // Ops begin when they are due, and not as soon as there is room.
  static constexpr bool kOpen = std::is_same_v<Between, OpenSlotHook<Clock, Queue>>;

  [[gnu::always_inline]] LaneRecorder& recorder() { return lane_.recorder; }

  [[gnu::always_inline]] void Start() {
    batch_count_ = NextBatch(lane_, recorder().ops(), batch_);
    ending_ = batch_count_ == 0;
    BeginRecord(lane_, Clock::Now());
    rare_ = std::min(recorder().next_event(), rules_.deadline);
  }

  // Prepares the ops that begin with the next turn and returns their number.
  [[gnu::always_inline]] size_t PrepareOps() {
    size_t begun_count = 0;
    awaits_due_ = false;
    while (slots_.free_count_ > 0 && AnotherMayBegin()) {
      const Op& op = batch_[batch_next_++];
      if constexpr (kOpen) {
        if (!ComesDue(op)) break;
      } else if constexpr (kAside) {
        if (!DoBefore(op)) break;
      }
      const uint32_t slot = slots_.free_[--slots_.free_count_];
      slots_.in_slot_[slot].op = op;
      if constexpr (kOpen) slots_.in_slot_[slot].due = between_.PopDue();
      queue_.Prepare(slot, op);
      slots_.begun_[begun_count++] = slot;
      ++in_flight_;
      if constexpr (kAside) break;
    }
    return begun_count;
  }

  // Returns false if there are no more ops now, or if the lane was stopped. Otherwise the next op of the batch may
  // begin.
  [[gnu::always_inline]] bool AnotherMayBegin() {
    if (ending_) return false;
    if (batch_next_ == batch_count_ && !FetchBatch()) return false;
    if (lane_.stop.stop.load(std::memory_order_relaxed)) [[unlikely]] {
      EndFor(Reason::kStopped);
      return false;
    }
    return true;
  }

  // Returns false if no op may begin: ever, or until the pass is flushed.
  [[gnu::always_inline]] bool FetchBatch() {
    const bool idle = in_flight_ == 0;
    batch_count_ = NextBatch(lane_, recorder().ops() + in_flight_, batch_, idle);
    batch_next_ = 0;
    if (batch_count_ == 0) {
      draining_ = lane_.end_pass && !idle;
      ending_ = !draining_;
      return false;
    }
    draining_ = false;
    if (lane_.end_pass && Clock::Now() >= rules_.deadline) {  // it passed during the flush of a pass
      EndFor(Reason::kDeadline);
      return false;
    }
    return true;
  }

  // Returns false if the phase ended meanwhile: `op` is put back and does not begin.
  [[gnu::always_inline]] bool DoBefore(const Op& op) {
    const Ticks aside = Clock::Now();
    between_.Before(op);
    const Ticks ready = Clock::Now();
    lane_.hook_ticks += ready.value - aside.value;
    if (const std::optional<Reason> over = OverWhileWaiting(lane_, ready)) [[unlikely]] {
      between_.NotBegun();
      recorder().RecordWaitedUntil(ready);
      --batch_next_;
      EndFor(*over);
      return false;
    }
    return true;
  }

  // Returns false if `op` is not due yet, or if the phase ended meanwhile; `op` is then the next one again.
  [[gnu::always_inline]] bool ComesDue(const Op& op) {
    between_.Hold(op);
    const Ticks now = Clock::Now();
    if (waits_only_) lane_.hook_ticks += now.value - waits_from_.value;
    waits_only_ = false;
    if (const std::optional<LoopEnd::Reason> over = OverWhileWaiting(lane_, now)) [[unlikely]] {
      recorder().RecordWaitedUntil(now);
      --batch_next_;
      EndFor(*over);
      return false;
    }
    if (now >= between_.due) return true;
    --batch_next_;
    awaits_due_ = true;
    waits_only_ = unseen_count_ == 0;
    waits_from_ = now;
    return false;
  }

  // Begins the prepared ops, takes those that have ended, and records them with the same end.
  [[gnu::always_inline]] void TurnQueue(size_t begun_count) {
    if constexpr (kOpen) {
      if (awaits_due_ && unseen_count_ == 0 && begun_count == 0) AwaitEndOrDue();
    }
    const Ticks begin = Clock::Now();
    for (size_t i = 0; i < begun_count; ++i) slots_.in_slot_[slots_.begun_[i]].begin = begin;
    bool wait = true;
    if constexpr (kAside) wait = unseen_count_ == 0 && (slots_.free_count_ == 0 || ending_ || draining_);
    const size_t end_count = queue_.Turn(wait, slots_.ends_);
    const Ticks end = Clock::Now();
    if constexpr (kOpen) waits_only_ = waits_only_ && end_count == 0;
    if (end_count > 0 && end >= rare_) [[unlikely]]
      recorder().BeforeEvent(end);
    for (size_t i = 0; i < end_count; ++i) RecordEnd(slots_.ends_[i], end);
    // Once for all that ended together, so that a point of the timeline never holds a part of them.
    if (recorder().last_end() >= rare_) [[unlikely]] {
      if (end >= recorder().next_event()) recorder().Event(begin, end);
      if (end >= rules_.deadline && !ending_) EndFor(Reason::kDeadline);
      rare_ = ending_ ? recorder().next_event() : std::min(recorder().next_event(), rules_.deadline);
    }
  }

  [[gnu::always_inline]] void AwaitEndOrDue() {
    const int64_t patience_ns = lane_.open_loop->PatienceNs(between_.due, Clock::Now());
    if (patience_ns > 0) queue_.Await(patience_ns);
  }

  // Records an ended op. Its slot is free at once if it failed or there is no hook, otherwise once the hook has seen
  // its data.
  [[gnu::always_inline]] void RecordEnd(const OpEnd& ended, Ticks end) {
    const Op& op = slots_.in_slot_[ended.slot].op;
    [[maybe_unused]] const Ticks op_begin = slots_.in_slot_[ended.slot].begin;
    --in_flight_;
    if (ended.moved != static_cast<int64_t>(op.length)) [[unlikely]] {
      slots_.free_[slots_.free_count_++] = ended.slot;
      RecordFailure(op, ended.moved, end);
      return;
    }
    if constexpr (kOpen) {
      recorder().Add(op.kind, OpenLoop::CountsFrom(slots_.in_slot_[ended.slot].due, end), end, op.length);
    } else {
      recorder().Add(op.kind, op_begin, end, op.length);
    }
    if constexpr (kAside) {
      slots_.unseen_[(unseen_first_ + unseen_count_++) % slots_.unseen_.size()] = {ended.slot, end};
    } else {
      slots_.free_[slots_.free_count_++] = ended.slot;
    }
  }

  // Only the first failure is reported; ops in flight may fail for the same reason.
  [[gnu::always_inline]] void RecordFailure(const Op& op, int64_t moved, Ticks end) {
    RecordFailedOp(lane_, op, moved, end);
    if (result_.reason == Reason::kFailed) return;
    EndFor(Reason::kFailed);
    result_.errno_value = moved < 0 ? static_cast<int>(-moved) : 0;
    result_.failed_op = op;
    result_.transferred = std::max<int64_t>(moved, 0);
  }

  // Shows the hook the oldest ended op that it has not seen, and frees its slot.
  [[gnu::always_inline]] void ShowEndedOp() {
    if (unseen_count_ == 0) return;
    const auto [slot, end] = slots_.unseen_[unseen_first_];
    const OpSlots::InSlot& ended = slots_.in_slot_[slot];
    unseen_first_ = (unseen_first_ + 1) % slots_.unseen_.size();
    --unseen_count_;
    const Ticks aside = Clock::Now();
    if constexpr (kOpen) {
      between_.After(ended.op, slot, {ended.begin, end}, ended.due);
    } else {
      between_.After(ended.op, slot, {ended.begin, end});
    }
    lane_.hook_ticks += Clock::Now().value - aside.value;
    slots_.free_[slots_.free_count_++] = slot;
  }

  // No op begins from now on. Those in flight complete and count.
  [[gnu::always_inline]] void EndFor(Reason reason) {
    ending_ = true;
    result_.reason = reason;
  }

  LaneContext& lane_;
  OpSlots& slots_;
  Queue& queue_;
  Between between_;
  Batch& batch_;
  const LoopRules rules_;
  size_t batch_count_ = 0;
  size_t batch_next_ = 0;
  uint32_t in_flight_ = 0;
  size_t unseen_first_ = 0;  // in the ring of slots_
  size_t unseen_count_ = 0;
  Ticks rare_;  // everything that is rare hides behind one comparison per turn
  LoopEnd result_;
  bool ending_ = false;      // no further ops begin
  bool awaits_due_ = false;  // the next op may begin, but is not due yet
  bool draining_ = false;  // no further ops begin before the pass is flushed, which waits for those in flight
  // Open loop: since waits_from_, the lane has done nothing but wait for the next op to be due. This time is in
  // hook_ticks, as in the loop of one op at a time, so that polling the clock does not look like work.
  bool waits_only_ = false;
  Ticks waits_from_;
};

// Runs the lane's ops, as many at a time as there are slots, until the pass is complete (forever with repeat_passes),
// the stop flag is set, the deadline has passed, the goal is reached or an op fails. In every case it waits for the ops
// in flight, which count. The first failure in the order of ends is reported; failed ops count only in failed_ops. Ops
// that were taken from the stream but not begun are put back; a failed op is not.
//
//   Clock    As in TimedLoop.
//   Queue    void Prepare(uint32_t slot, const Op&): does everything that can be done before the op begins, including
//            its data.
//            size_t Turn(bool wait, std::span<OpEnd> ends): begins the ops prepared since the last turn; with `wait`,
//            blocks until one has ended. Writes the ended ops in the order of their ends and returns their number. Each
//            op ends exactly once, in any order. With `wait`, it may still return 0 if interrupted.
//            void Await(int64_t ns): blocks until an op in flight may have ended, but at most for this time. Open loops
//            call it between turns, when every prepared op has begun.
//            const std::byte* DataOf(uint32_t slot) const: the data of a completed read, valid until the slot's next
//            Prepare.
//   Between  The op hook: Before(const Op&), NotBegun() and After(const Op&, uint32_t slot, OpTimes), as in TimedLoop.
//            After is called in the order of ends. The hook shares the thread with the queue, which is polled once per
//            turn, so an end is noticed late by at most one call of Before and one of After. With NoHook, all free
//            slots begin in one turn; otherwise each op begins in its own turn.
//
// An op lasts from the turn that begins it (the clock is read after Prepare) to the turn that ends it. Ops that end in
// the same turn have the same end time, since nothing outside the queue can know their exact ends.
template <typename Clock, typename Queue, typename Between>
LoopEnd QueuedLoop(LaneContext& lane, OpSlots& slots, Queue& queue, Between between) {
  std::array<Op, kOpsPerBatch> batch;
  return QueuedRun<Clock, Queue, Between>(lane, slots, queue, between, batch).Run();
}

// Runs QueuedLoop with the lane's op hook. The choice is made once per phase.
template <typename Clock, typename Queue>
LoopEnd RunQueue(LaneContext& lane, OpSlots& slots, Queue& queue) {
  if (lane.open_loop != nullptr) {
    return QueuedLoop<Clock>(lane, slots, queue, OpenSlotHook<Clock, Queue>{lane, queue});
  }
  if (lane.between == nullptr) return QueuedLoop<Clock>(lane, slots, queue, NoHook{});
  return QueuedLoop<Clock>(lane, slots, queue, SlotHook<Queue>{*lane.between, queue});
}

}  // namespace iobench

#endif  // WORKER_LOOP_QUEUED_LOOP_H_

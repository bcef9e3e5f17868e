// Everything that a lane's timed loop needs. worker/lane fills it in for each phase.
#ifndef WORKER_LOOP_LANE_CONTEXT_H_
#define WORKER_LOOP_LANE_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "common/memory/own_lines.h"
#include "common/model/op.h"
#include "common/time.h"
#include "worker/data/payload.h"
#include "worker/loop/lane_recorder.h"
#include "worker/loop/op_hook.h"
#include "worker/loop/open_loop.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// The stop flag: set by the control thread, read by the lane once per op (relaxed). It has cache lines of its own, so
// that reading it costs nothing until it is set.
struct alignas(kOwnLinesBytes) StopCell {
  std::atomic<bool> stop{false};
};
static_assert(sizeof(StopCell) == kOwnLinesBytes);

// When the loop ends on its own. Times are on the lane's tick clock; kNever: no limit.
struct LoopRules {
  static constexpr Ticks kNever{UINT64_MAX};
  // The op that ends at or after this instant is the last.
  Ticks deadline = kNever;
  // --time: start the stream again after each pass.
  bool repeat_passes = false;
  // --max-ops and wear-out: end as soon as the recorder has this many ops, those of an earlier Run included.
  uint64_t ops_goal = UINT64_MAX;
};

// Failed ops of a lane by kind and errno. Fixed in size, because the loop must not allocate: once it is full, further
// kinds count in the last entry.
class FailedOps {
 public:
  struct Entry {
    Op first;
    int errno_value = 0;  // 0: fewer bytes were moved than asked for
    uint64_t count = 0;
  };
  // `moved`: as the op returned it, -errno or too few bytes.
  void Note(const Op& op, int64_t moved, uint64_t count = 1) {
    const int errno_value = moved < 0 ? static_cast<int>(-moved) : 0;
    total_ += count;
    for (size_t i = 0; i < size_; ++i) {
      Entry& entry = entries_[i];
      const bool same = entry.first.kind == op.kind && entry.errno_value == errno_value;
      if (!same && !(i + 1 == entries_.size())) continue;
      entry.count += count;
      return;
    }
    entries_[size_++] = {.first = op, .errno_value = errno_value, .count = count};
  }
  std::span<const Entry> entries() const { return std::span(entries_).first(size_); }
  uint64_t total() const { return total_; }

 private:
  std::array<Entry, 12> entries_{};
  size_t size_ = 0;
  uint64_t total_ = 0;
};

// Only the lane's thread uses it, except for the atomic members of `stop` and `recorder`. Everything that it refers to
// must outlive the loop and stay where it is.
struct LaneContext {
  OpStream& stream;
  Payload* payload;        // null if the operation never writes
  std::byte* read_buffer;  // size of the longest op, aligned to 4 KiB; null if the operation never reads
  StopCell& stop;
  LaneRecorder& recorder;
  LoopRules rules{};
  // What the lane does between its ops. Null: nothing, at no cost.
  OpHook* between = nullptr;
  // Ops begin when they are due. Null: each begins when the one before it has ended (with a queue: when there is room).
  OpenLoop* open_loop = nullptr;
  // Continue after an earlier Run, with the recorder already started. With `resume_after_wait`, the plan required a
  // wait between the two (wear-out), which therefore is no stall.
  bool resume = false;
  bool resume_after_wait = false;
  // Results of the loop: the pass that the stream is in; when the last op of pass 0 that the loop has seen ended, once
  // another pass is to begin; and the ticks spent in the op hook so far.
  uint64_t pass = 0;
  Ticks first_pass_ops_end{};
  uint64_t hook_ticks = 0;
  FailedOps failed_ops{};
  uint64_t warmup_failed_count = 0;  // of failed_ops, those that ended by the end of the warm-up
  // Attempts that the engine repeated, with the errno that made it do so. The ops themselves count by their final
  // outcome.
  FailedOps retried_ops{};
  // Called between two passes with no op in flight: flushes what the last pass wrote before the next one overwrites it,
  // or drops the pages that it read. Empty: passes follow each other directly. Returns false on failure, which ends the
  // loop.
  std::function<bool()> end_pass = {};
};

// Notes an op of the lane that ended at `end` and failed. `moved` is as in FailedOps::Note.
inline void RecordFailedOp(LaneContext& lane, const Op& op, int64_t moved, Ticks end) {
  lane.failed_ops.Note(op, moved);
  if (lane.recorder.IsInWarmup(end)) ++lane.warmup_failed_count;
  lane.recorder.RecordWaitedUntil(end);
}

// What an op returns that waited for others until the phase ended, and gave up. It counts nowhere, and is put back.
inline constexpr int64_t kGivenUp = INT64_MIN;

// Why the loop ended, and for a failure, at which op. Errors are errnos here, because the loop must not make a Status;
// LaneSetup::FailureOf does afterwards.
struct LoopEnd {
  // kDone: the pass is complete. kStopped: the stop flag was set. kDeadline, kGoal: see LoopRules. kFailed: an op
  // failed.
  enum class Reason { kDone, kStopped, kDeadline, kGoal, kFailed };
  Reason reason = Reason::kDone;
  // Of kFailed: the errno of the call. 0: the call transferred fewer bytes than the op has.
  int errno_value = 0;
  // Of kFailed: the op that failed, and the bytes that it transferred.
  Op failed_op{};
  bool put_back = false;  // it is the stream's next op again
  int64_t transferred = 0;
};

}  // namespace iobench

#endif  // WORKER_LOOP_LANE_CONTEXT_H_

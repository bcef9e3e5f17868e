// What one lane's timed loop needs, put together by worker/lane for each phase.
#ifndef WORKER_LANE_CONTEXT_H_
#define WORKER_LANE_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "common/op.h"
#include "common/time.h"
#include "worker/between_ops.h"
#include "worker/lane_recorder.h"
#include "worker/pattern/op_stream.h"
#include "worker/payload.h"

namespace iobench {

// Set by the control thread, read by the lane once per op (relaxed).
struct alignas(64) StopCell {
  std::atomic<bool> stop{false};
};

// When the loop ends by itself. All on the lane's tick clock; kNever where it does not apply.
struct LoopRules {
  static constexpr Ticks kNever{UINT64_MAX};
  Ticks deadline = kNever;         // the op that ends at or after it is the last
  bool repeat_passes = false;      // --time: Restart the stream when a pass is complete
  uint64_t ops_goal = UINT64_MAX;  // wear-out: ends when the recorder has so many ops
};

struct LaneContext {
  OpStream& stream;
  Payload* payload;        // null where the operation never writes
  std::byte* read_buffer;  // of the longest op, 4 KiB aligned; null where it never reads
  StopCell& stop;
  LaneRecorder& recorder;
  LoopRules rules{};
  BetweenOps* between =
      nullptr;          // null in the common case: then nothing lies between ops, and nothing is paid for it
  bool resume = false;  // wear-out: go on after a deadline; the recorder is already started
  uint64_t pass = 0;    // the pass that the stream is in; the loop counts it up
  uint64_t between_ticks = 0;  // spent in `between`; the loop adds to it
  // Between two passes: flushes what one has written before the next writes over it, drops the pages that one has read.
  // Empty: passes follow each other at once. Called with no op in flight. False: it has failed, and the loop ends.
  std::function<bool()> end_pass = {};
};

struct LoopEnd {
  enum class Reason { kDone, kStopped, kDeadline, kGoal, kFailed };
  Reason reason = Reason::kDone;
  int errno_value = 0;      // kFailed: what the call said; 0 with `transferred` short: short transfer
  Op failed_op{};           // kFailed: which op
  int64_t transferred = 0;  // kFailed: bytes of the failed op that were moved
};

}  // namespace iobench

#endif  // WORKER_LANE_CONTEXT_H_

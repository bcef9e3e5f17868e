// Everything that a lane's timed loop needs. worker/lane fills it in for each phase.
#ifndef WORKER_LOOP_LANE_CONTEXT_H_
#define WORKER_LOOP_LANE_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "common/model/op.h"
#include "common/time.h"
#include "worker/data/payload.h"
#include "worker/loop/op_hook.h"
#include "worker/loop/lane_recorder.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// The stop flag: set by the control thread, read by the lane once per op (relaxed).
struct alignas(64) StopCell {
  std::atomic<bool> stop{false};
};

// When the loop ends on its own. Times are on the lane's tick clock; kNever: no limit.
struct LoopRules {
  static constexpr Ticks kNever{UINT64_MAX};
  Ticks deadline = kNever;         // the op that ends at or after this instant is the last
  bool repeat_passes = false;      // --time: restart the stream after each pass
  uint64_t ops_goal = UINT64_MAX;  // wear-out: end when the recorder has this many ops
};

struct LaneContext {
  OpStream& stream;
  Payload* payload;        // null if the operation never writes
  std::byte* read_buffer;  // size of the longest op, aligned to 4 KiB; null if the operation never reads
  StopCell& stop;
  LaneRecorder& recorder;
  LoopRules rules{};
  OpHook* between =
      nullptr;          // null by default: nothing runs between ops, at no cost
  bool resume = false;  // wear-out: continue after a deadline, with the recorder already started
  uint64_t pass = 0;    // current pass of the stream; the loop increments it
  uint64_t hook_ticks = 0;  // time spent in the op hook; the loop adds to it
  // Called between two passes with no op in flight: flushes what the last pass wrote before the next one overwrites it,
  // or drops the pages that it read. Empty: passes follow each other directly. Returns false on failure, which ends the
  // loop.
  std::function<bool()> end_pass = {};
};

struct LoopEnd {
  enum class Reason { kDone, kStopped, kDeadline, kGoal, kFailed };
  Reason reason = Reason::kDone;
  int errno_value = 0;      // kFailed: errno of the call; 0: the transfer was short
  Op failed_op{};           // kFailed: the op that failed
  int64_t transferred = 0;  // kFailed: bytes that the failed op transferred
};

}  // namespace iobench

#endif  // WORKER_LOOP_LANE_CONTEXT_H_

// The op hook of a lane that replays or writes a trace.
#ifndef WORKER_LANE_TRACE_HOOK_H_
#define WORKER_LANE_TRACE_HOOK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "worker/lane/pauses.h"
#include "worker/loop/lane_context.h"
#include "worker/loop/op_hook.h"
#include "worker/prepare/trace_file.h"

namespace iobench {

// Each lane has its own, used on its thread. It wraps the lane's other op hook. Delays in a trace are measured from the
// end of the previous op (with several ops in flight: from the latest end or start) to the start of the op.
class TraceHook final : public OpHook {
 public:
  // `inner` may be null. All arguments must outlive the hook.
  TraceHook(OpHook* inner, const StopCell& stop, PauseClock& clock)
      : inner_(inner), stop_(stop), clock_(clock) {}

  // Call it before the lane's ops.
  void Replay(std::shared_ptr<const TraceOps> trace) { replayed_ = std::move(trace); }
  // Records up to `op_count` ops. Reserves the memory now and uses it as ops come. ResourceExhausted: not enough
  // memory.
  absl::Status Record(size_t op_count);
  // No delay lasts beyond this time of CLOCK_MONOTONIC.
  void EndAt(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  void Before(const Op& next) override;
  void NotBegun() override;
  void After(const Op& done, const std::byte* data, OpTimes times) override;

  // The op of the last Before call has failed: it is not recorded. Replaying goes on with the next one.
  void LeaveLastOut();

  // The following ops are not measured: they are neither delayed nor recorded.
  void EndMeasured() { measured_ = false; }

  // Returns the recorded ops in the order in which they began, and keeps none.
  TraceOps PopRecorded() { return std::exchange(recorded_, {}); }
  // The number of ops that were not recorded because the limit was reached.
  uint64_t left_out_count() const { return left_out_count_; }
  // The time waited because of the delays in the replayed trace; the plan's own pauses are not in it.
  int64_t waited_ns() const { return waited_ns_; }

 private:
  void WaitUntil(int64_t due_ns);

  OpHook* const inner_;
  const StopCell& stop_;
  PauseClock& clock_;
  std::shared_ptr<const TraceOps> replayed_;
  size_t position_ = 0;       // in replayed_
  size_t last_position_ = 0;  // position before the last Before call
  bool records_ = false;
  bool recorded_last_ = false;  // the op of the last Before call is in recorded_
  TraceOps recorded_;
  uint64_t left_out_count_ = 0;
  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();
  int64_t last_ns_ = 0;  // latest end or start of an op; 0: none yet
  int64_t waited_ns_ = 0;
  bool measured_ = true;
};

}  // namespace iobench

#endif  // WORKER_LANE_TRACE_HOOK_H_

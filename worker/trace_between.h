// Between the ops of a lane that replays a trace, or writes one.
#ifndef WORKER_TRACE_BETWEEN_H_
#define WORKER_TRACE_BETWEEN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "worker/between_ops.h"
#include "worker/between_pauses.h"
#include "worker/lane_context.h"
#include "worker/trace_file.h"

namespace iobench {

// One per lane, on its thread, in front of what else lies between its ops. Times of a trace count from the end of the
// op before (with several in flight: from the last end or beginning) to the beginning of the op.
class TraceBetween final : public BetweenOps {
 public:
  // `inner` may be null. All must outlive it.
  TraceBetween(BetweenOps* inner, const StopCell& stop, PauseClock& clock)
      : inner_(inner), stop_(stop), clock_(clock) {}

  // Before the lane's ops.
  void Replay(std::shared_ptr<const TraceOps> trace) { replayed_ = std::move(trace); }
  // At most so many; the memory is asked for now and used as ops come. ResourceExhausted.
  absl::Status Record(size_t op_count);
  void EndAt(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  void Before(const Op& next) override;
  void NotBegun() override;
  void After(const Op& done, const std::byte* data) override;

  // What follows is not measured: neither delayed nor recorded.
  void EndMeasured() { measured_ = false; }

  TraceOps TakeRecorded() { return std::exchange(recorded_, {}); }
  uint64_t left_out_count() const { return left_out_count_; }  // ops that found no room
  int64_t waited_ns() const { return waited_ns_; }             // think time of the replayed trace

 private:
  void WaitUntil(int64_t due_ns);

  BetweenOps* const inner_;
  const StopCell& stop_;
  PauseClock& clock_;
  std::shared_ptr<const TraceOps> replayed_;
  size_t position_ = 0;       // in replayed_
  size_t last_position_ = 0;  // before the last Before
  bool records_ = false;
  bool recorded_last_ = false;  // the op of the last Before is in recorded_
  TraceOps recorded_;
  uint64_t left_out_count_ = 0;
  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();
  int64_t last_ns_ = 0;  // an op ended, or began; 0: none yet
  int64_t waited_ns_ = 0;
  bool measured_ = true;
};

}  // namespace iobench

#endif  // WORKER_TRACE_BETWEEN_H_

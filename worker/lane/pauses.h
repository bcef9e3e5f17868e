// The pauses between a lane's ops: think time, processor cache purge, pace, and pauses between bursts.
#ifndef WORKER_LANE_PAUSES_H_
#define WORKER_LANE_PAUSES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/op.h"
#include "iobench/v1/plan.pb.h"
#include "worker/data/aligned_buffer.h"
#include "worker/lane/pause_clock.h"
#include "worker/loop/lane_context.h"

namespace iobench {

// Each lane has its own, used on its thread. Every wait ends early if the lane is stopped or its deadline is reached.
class Pauses {
 public:
  // Returns null if the plan requests no pauses. `stop` and `clock` must outlive it. ResourceExhausted: not enough
  // memory for the cache purge.
  static absl::StatusOr<std::unique_ptr<Pauses>> Create(const v1::Between& between, const StopCell& stop,
                                                        PauseClock& clock);

  // Pauses in this order: pause after a burst, think time, purge, pace. The pace comes last so that the others do not
  // disturb it.
  //
  // Pace: op k is due k intervals after the first op. A late op begins at once. At most one interval of delay is made
  // up for, so that no burst follows a stall.
  void Before(const Op& next);
  void After(const Op& done);

  // `flush` flushes the lane's files after each burst in which something was written. Without it, nothing is flushed.
  void FlushWith(std::function<absl::Status()> flush) { flush_ = std::move(flush); }
  // No wait lasts beyond this time of CLOCK_MONOTONIC, so that a pause cannot delay the end of the phase.
  void EndAt(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  // The time so far that the plan excludes from the lane's own time: think time (unless it is to count) and the pauses
  // after bursts, but not their flushes.
  int64_t left_out_ns() const { return left_out_ns_; }
  // The longest pause between two ops that the plan itself requires: think time, interval of the pace, and burst pause
  // together. Shorter gaps between ops are not stalls.
  int64_t longest_asked_ns() const;
  const absl::Status& flush_status() const { return flush_status_; }  // status of the first flush that failed

 private:
  Pauses(const v1::Between& between, const StopCell& stop, PauseClock& clock,
         std::optional<AlignedBuffer> cache_sized);

  void EndBurst();
  void Think();
  void Purge() const;
  void AwaitTurn();
  // Sleeps and then spins, because timers are up to 50 us late. Returns the time when it ended.
  int64_t WaitUntil(int64_t until_ns);
  bool Ended(int64_t now_ns) const;

  const StopCell& stop_;
  PauseClock& clock_;
  const int64_t think_ns_;
  const bool think_counts_;
  const double interval_ns_;  // 0: no pace
  const uint64_t burst_bytes_;
  const int64_t burst_pause_ns_;
  const std::optional<AlignedBuffer> cache_sized_;
  const uint32_t cache_line_bytes_;
  std::function<absl::Status()> flush_;

  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();
  std::optional<double> due_ns_;
  uint64_t in_burst_bytes_ = 0;
  bool wrote_ = false;  // since the last flush
  int64_t left_out_ns_ = 0;
  absl::Status flush_status_;
};

}  // namespace iobench

#endif  // WORKER_LANE_PAUSES_H_

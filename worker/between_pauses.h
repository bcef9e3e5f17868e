// What a lane waits for between its ops: think time, a purge of the processor's cache, a pace, pauses between bursts.
#ifndef WORKER_BETWEEN_PAUSES_H_
#define WORKER_BETWEEN_PAUSES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/op.h"
#include "iobench/v1/plan.pb.h"
#include "worker/aligned_buffer.h"
#include "worker/lane_context.h"

namespace iobench {

// CLOCK_MONOTONIC, or a test's.
class PauseClock {
 public:
  virtual ~PauseClock() = default;
  virtual int64_t NowNs() = 0;
  virtual void SleepUntilNs(int64_t ns) = 0;  // may be some 50 us late
};
PauseClock& RealPauseClock();

// One per lane, on its thread. Every wait ends when the lane is told to stop or its deadline comes.
class Pauses {
 public:
  // Null where the plan asks for none. `stop` and `clock` must outlive it. ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<Pauses>> Create(const v1::Between& between, const StopCell& stop,
                                                        PauseClock& clock);

  // In this order: the pause after a burst, think time, purge, and last the pace, so that what the others take does not
  // disturb it.
  //
  // Pace: op k is due k intervals after the first. An op that comes late begins at once; of what was missed no more
  // than one interval is made up for, so that a stall is not followed by a burst.
  void Before(const Op& next);
  void After(const Op& done);

  // What flushes the lane's files after a burst; none: nothing is flushed.
  void FlushWith(std::function<absl::Status()> flush) { flush_ = std::move(flush); }
  void EndAt(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  // Of the time so far, what the plan leaves out of the lane's own time: think time (unless it is to count) and the
  // pauses after bursts; not their flushes.
  int64_t left_out_ns() const { return left_out_ns_; }
  // The longest that may lie between two ops by the plan alone.
  int64_t longest_asked_ns() const;
  const absl::Status& flush_status() const { return flush_status_; }  // of the first flush that failed

 private:
  Pauses(const v1::Between& between, const StopCell& stop, PauseClock& clock,
         std::optional<AlignedBuffer> cache_sized);

  void EndBurst();
  void Think();
  void Purge() const;
  void AwaitTurn();
  // Sleeps, and reads the clock for the rest: a timer is up to 50 us late. Returns when it was over.
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

#endif  // WORKER_BETWEEN_PAUSES_H_

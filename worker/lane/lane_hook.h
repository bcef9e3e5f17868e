// The op hook of a lane: generates data, checks data, flushes and pauses.
#ifndef WORKER_LANE_LANE_HOOK_H_
#define WORKER_LANE_LANE_HOOK_H_

#include <cstdint>
#include <memory>

#include "worker/data/data_checker.h"
#include "worker/data/payload.h"
#include "worker/lane/pauses.h"
#include "worker/lane/periodic_flush.h"
#include "worker/loop/op_hook.h"

namespace iobench {

// Belongs to the LaneSetup; only the lane's thread uses it. Each part is optional. Create it only if at least one part
// is used, because a hook costs a second clock read per op.
class LaneHook final : public OpHook {
 public:
  explicit LaneHook(std::unique_ptr<Pauses> pauses)
      : pauses_(std::move(pauses)), times_data_(pauses_ != nullptr) {}

  // Call these before the lane's ops. `payload` must outlive them.
  void PrepareDataOf(Payload& payload) { payload_ = &payload; }
  void CheckWith(std::unique_ptr<DataChecker> checker) {
    checker_ = std::move(checker);
    times_data_ = true;
  }
  void FlushWith(std::unique_ptr<PeriodicFlush> flush) {
    flush_ = std::move(flush);
    times_data_ = true;
  }
  // Call it if something outside the hook (an open loop, a trace) also takes time between ops.
  void TimeDataSeparately() { times_data_ = true; }

  void Before(const Op& next) override;
  void After(const Op& done, const std::byte* data, OpTimes times) override;

  // From now on it only generates data, because the following ops are not measured.
  void EndPausesAndChecks();

  Pauses* pauses() { return pauses_.get(); }
  const Pauses* pauses() const { return pauses_.get(); }
  const DataChecker* checker() const { return checker_.get(); }
  const PeriodicFlush* periodic_flush() const { return flush_.get(); }
  // Time for generating and checking data. Valid only if times_data() is true; otherwise generating data is all that
  // happens between ops, so it takes all of the time between them.
  int64_t data_ns() const { return data_ns_; }
  bool times_data() const { return times_data_; }
  // The pauses that do not count in the lane's own time (Pauses::left_out_ns).
  int64_t left_out_ns() const { return pauses_ == nullptr ? 0 : pauses_->left_out_ns(); }

 private:
  std::unique_ptr<Pauses> pauses_;
  std::unique_ptr<DataChecker> checker_;
  std::unique_ptr<PeriodicFlush> flush_;
  Payload* payload_ = nullptr;
  bool times_data_ = false;
  bool unmeasured_ = false;
  int64_t data_ns_ = 0;
};

}  // namespace iobench

#endif  // WORKER_LANE_LANE_HOOK_H_

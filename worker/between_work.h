// All that a lane does between its ops, in one: makes data, checks data, pauses.
#ifndef WORKER_BETWEEN_WORK_H_
#define WORKER_BETWEEN_WORK_H_

#include <cstdint>
#include <memory>

#include "worker/between_ops.h"
#include "worker/between_pauses.h"
#include "worker/data/data_checker.h"
#include "worker/payload.h"

namespace iobench {

// Made where there is something to do; each part may be missing.
class BetweenWork final : public BetweenOps {
 public:
  explicit BetweenWork(std::unique_ptr<Pauses> pauses) : pauses_(std::move(pauses)) {}

  // Before the lane's ops. `payload` must outlive them.
  void PrepareDataOf(Payload& payload) { payload_ = &payload; }
  void CheckWith(std::unique_ptr<DataChecker> checker) { checker_ = std::move(checker); }

  void Before(const Op& next) override;
  void After(const Op& done, const std::byte* data) override;

  // From now on only data are made: what follows is not measured.
  void EndPausesAndChecks();

  Pauses* pauses() { return pauses_.get(); }
  const DataChecker* checker() const { return checker_.get(); }
  // Making and checking data. Where that is all there is it is not timed by itself: it is what lies between the ops.
  int64_t data_ns() const { return data_ns_; }
  bool only_makes_data() const { return pauses_ == nullptr && checker_ == nullptr; }
  int64_t left_out_ns() const { return pauses_ == nullptr ? 0 : pauses_->left_out_ns(); }

 private:
  std::unique_ptr<Pauses> pauses_;
  std::unique_ptr<DataChecker> checker_;
  Payload* payload_ = nullptr;
  bool unmeasured_ = false;
  int64_t data_ns_ = 0;
};

}  // namespace iobench

#endif  // WORKER_BETWEEN_WORK_H_

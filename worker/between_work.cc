#include "worker/between_work.h"

#include "common/clock.h"

namespace iobench {

void BetweenWork::Before(const Op& next) {
  if (payload_ != nullptr && next.kind != OpKind::kRead) {
    const int64_t begin_ns = MonotonicNowNs();
    payload_->Prepare(next);
    if (!only_makes_data_) data_ns_ += MonotonicNowNs() - begin_ns;
  }
  if (pauses_ != nullptr && !only_makes_data_) pauses_->Before(next);
}

void BetweenWork::After(const Op& done, const std::byte* data) {
  if (only_makes_data_) return;
  if (checker_ != nullptr && data != nullptr) {
    const int64_t begin_ns = MonotonicNowNs();
    checker_->Check(done, data);
    data_ns_ += MonotonicNowNs() - begin_ns;
  }
  if (pauses_ != nullptr) pauses_->After(done);
}

void BetweenWork::EndPausesAndChecks() {
  only_makes_data_ = true;
}

}  // namespace iobench

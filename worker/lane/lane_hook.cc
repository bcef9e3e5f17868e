#include "worker/lane/lane_hook.h"

#include "common/clock.h"

namespace iobench {

void LaneHook::Before(const Op& next) {
  if (payload_ != nullptr && next.kind != OpKind::kRead) {
    const bool timed = times_data_ && !unmeasured_;
    const int64_t begin_ns = timed ? MonotonicNowNs() : 0;
    payload_->Prepare(next);
    if (timed) data_ns_ += MonotonicNowNs() - begin_ns;
  }
  if (pauses_ != nullptr && !unmeasured_) pauses_->Before(next);
}

void LaneHook::After(const Op& done, const std::byte* data, OpTimes) {
  if (unmeasured_) return;
  if (checker_ != nullptr && data != nullptr) {
    const int64_t begin_ns = MonotonicNowNs();
    checker_->Check(done, data);
    data_ns_ += MonotonicNowNs() - begin_ns;
  }
  if (flush_ != nullptr) flush_->After(done);
  if (pauses_ != nullptr) pauses_->After(done);
}

void LaneHook::EndPausesAndChecks() {
  unmeasured_ = true;
}

}  // namespace iobench

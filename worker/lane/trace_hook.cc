#include "worker/lane/trace_hook.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"

namespace iobench {

absl::Status TraceHook::Record(size_t op_count) {
  records_ = true;
  try {
    recorded_.reserve(op_count);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a trace of ", op_count, " ops: use a smaller -s or fewer lanes"));
  }
  return absl::OkStatus();
}

void TraceHook::WaitUntil(int64_t due_ns) {
  iobench::WaitUntil(clock_, stop_, std::min(due_ns, deadline_ns_));
}

void TraceHook::Before(const Op& next) {
  if (inner_ != nullptr) inner_->Before(next);
  if (!measured_) return;
  int64_t now_ns = clock_.NowNs();
  if (last_ns_ == 0) last_ns_ = now_ns;
  last_position_ = position_;
  recorded_last_ = false;
  if (replayed_ != nullptr) {
    const int64_t due_ns = last_ns_ + int64_t{(*replayed_)[position_].delay_us} * 1000;
    position_ = position_ + 1 == replayed_->size() ? 0 : position_ + 1;
    if (due_ns > now_ns) {
      WaitUntil(due_ns);
      const int64_t waited_until_ns = clock_.NowNs();
      waited_ns_ += waited_until_ns - now_ns;
      now_ns = waited_until_ns;
    }
  }
  if (records_) {
    recorded_last_ = recorded_.size() < recorded_.capacity();
    if (recorded_last_) {
      const int64_t delay_us = (now_ns - last_ns_ + 500) / 1000;
      recorded_.push_back({.offset = next.offset,
                           .length = next.length,
                           .delay_us = static_cast<uint32_t>(
                               std::min<int64_t>(delay_us, std::numeric_limits<uint32_t>::max()))});
    } else {
      ++left_out_count_;
    }
  }
  last_ns_ = now_ns;
}

void TraceHook::NotBegun() {
  if (inner_ != nullptr) inner_->NotBegun();
  if (!measured_) return;
  position_ = last_position_;
  LeaveLastOut();
}

void TraceHook::LeaveLastOut() {
  if (recorded_last_) {
    recorded_.pop_back();
    recorded_last_ = false;
  } else if (left_out_count_ > 0) {
    --left_out_count_;
  }
}

void TraceHook::After(const Op& done, const std::byte* data, OpTimes times) {
  last_ns_ = clock_.NowNs();
  if (inner_ != nullptr) inner_->After(done, data, times);
}

}  // namespace iobench

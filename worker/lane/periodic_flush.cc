#include "worker/lane/periodic_flush.h"

#include <cassert>
#include <utility>

namespace iobench {

PeriodicFlush::PeriodicFlush(uint64_t every_ops, size_t file_count,
                             std::function<absl::Status(uint32_t object)> flush)
    : every_ops_(every_ops), flush_(std::move(flush)), is_unflushed_(file_count) {
  assert(every_ops > 0);
  unflushed_.reserve(file_count);
}

void PeriodicFlush::After(const Op& done) {
  if (done.kind == OpKind::kRead) return;
  if (!is_unflushed_[done.object]) {
    is_unflushed_[done.object] = true;
    unflushed_.push_back(done.object);
  }
  if (++unflushed_ops_ < every_ops_) return;
  for (const uint32_t object : unflushed_) {
    status_.Update(flush_(object));
    is_unflushed_[object] = false;
  }
  unflushed_.clear();
  unflushed_ops_ = 0;
}

}  // namespace iobench

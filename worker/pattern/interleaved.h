// Adapts a stream of ops to an interleaved file, in which the records of the lanes alternate.
#ifndef WORKER_PATTERN_INTERLEAVED_H_
#define WORKER_PATTERN_INTERLEAVED_H_

#include <memory>
#include <span>
#include <utility>

#include "worker/pattern/op_stream.h"

namespace iobench {

// Record n of the lane becomes record n x interleave_count of the file, counted from the lane's own first record. The
// order of the records is that of the adapted stream. Owns that stream. REQUIRES: every op is exactly one record, and
// there is one file.
class Interleaved : public OpStream {
 public:
  Interleaved(std::unique_ptr<OpStream> dense, uint32_t interleave_count)
      : dense_(std::move(dense)), interleave_count_(interleave_count) {}

  // Only offsets change, so every other function is the adapted stream's.
  size_t Fill(std::span<Op> batch) override {
    const size_t count = dense_->Fill(batch);
    for (Op& op : batch.first(count)) op.offset *= interleave_count_;
    return count;
  }
  void Unread(size_t op_count) override { dense_->Unread(op_count); }
  void Restart(uint64_t pass) override { dense_->Restart(pass); }
  uint64_t ops_per_pass() const override { return dense_->ops_per_pass(); }
  uint64_t bytes_per_pass() const override { return dense_->bytes_per_pass(); }

 private:
  const std::unique_ptr<OpStream> dense_;
  const uint64_t interleave_count_;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_INTERLEAVED_H_

// Adapts a stream of ops to an interleaved file, in which the lanes' records, or blocks of several records, alternate.
#ifndef WORKER_PATTERN_INTERLEAVED_H_
#define WORKER_PATTERN_INTERLEAVED_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "worker/pattern/op_stream.h"

namespace iobench {

// Where a lane's data are in a file in which the blocks of `count` lanes alternate: its block n is block n x count of the
// file. Offsets in the file are from the lane's own first byte.
struct Interleave {
  uint64_t count = 1;        // of lanes; 1: the lane has the file for itself
  uint64_t block_bytes = 0;  // of one turn; any number if count is 1

  uint64_t InFile(uint64_t lane_offset) const {
    return count == 1 ? lane_offset : lane_offset + lane_offset / block_bytes * (count - 1) * block_bytes;
  }
  // REQUIRES: the offset in the file is one of the lane's.
  uint64_t InLane(uint64_t file_offset) const {
    return count == 1 ? file_offset
                      : file_offset / (block_bytes * count) * block_bytes + file_offset % (block_bytes * count);
  }
};

// The order of the records is that of the adapted stream. Owns that stream. REQUIRES: every op is within one block, and
// there is one file.
class Interleaved : public OpStream {
 public:
  Interleaved(std::unique_ptr<OpStream> dense, const Interleave& interleave)
      : dense_(std::move(dense)), interleave_(interleave) {}

  // Only offsets change, so every other function is the adapted stream's.
  size_t Fill(std::span<Op> batch) override {
    const size_t count = dense_->Fill(batch);
    for (Op& op : batch.first(count)) op.offset = interleave_.InFile(op.offset);
    return count;
  }
  void Unread(size_t op_count) override { dense_->Unread(op_count); }
  void Restart(uint64_t pass) override { dense_->Restart(pass); }
  uint64_t ops_per_pass() const override { return dense_->ops_per_pass(); }
  uint64_t bytes_per_pass() const override { return dense_->bytes_per_pass(); }

 private:
  const std::unique_ptr<OpStream> dense_;
  const Interleave interleave_;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_INTERLEAVED_H_

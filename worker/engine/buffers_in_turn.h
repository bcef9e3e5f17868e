// -m: memory that records come from and go to in turn, so that neither the lane nor the kernel finds a record's
// memory in the processor's cache as it does where one buffer is used again and again.
#ifndef WORKER_ENGINE_BUFFERS_IN_TURN_H_
#define WORKER_ENGINE_BUFFERS_IN_TURN_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/op.h"
#include "worker/aligned_buffer.h"
#include "worker/payload.h"

namespace iobench {

// As many places as fit into the memory asked for, each of the longest op. One per lane, one thread.
class BuffersInTurn {
 public:
  // Filled with what `payload` gives; null where nothing is written. ResourceExhausted. REQUIRES: buffer_bytes > 0.
  absl::Status Allocate(uint64_t buffer_bytes, uint32_t longest_op_bytes, Payload* payload);

  bool in_use() const { return memory_.has_value(); }
  size_t place_count() const { return memory_->size() / place_bytes_; }

  // The next one: on a 4 KiB border, with room for the longest op and for what its offset is behind such a border.
  std::byte* Take() {
    if (at_ == memory_->size()) at_ = 0;
    std::byte* const place = memory_->data() + at_;
    at_ += place_bytes_;
    return place;
  }

  static constexpr size_t kAlignmentBytes = 4096;

 private:
  std::optional<AlignedBuffer> memory_;
  size_t place_bytes_ = 0;
  size_t at_ = 0;
};

// Where a way to do an op puts what it reads.
template <typename DoOp>
void SetReadBuffer(DoOp& do_op, std::byte* buffer) {
  do_op.read_buffer = buffer;
}

// Around another way to do an op: its data stand in the next place.
template <typename DoOp>
struct WithBuffersInTurn {
  mutable DoOp do_op;
  BuffersInTurn* buffers;
  Payload* payload;  // null where nothing is written

  int64_t operator()(const Op& op) const {
    std::byte* const place = buffers->Take();
    SetReadBuffer(do_op, place + op.offset % BuffersInTurn::kAlignmentBytes);
    if (payload != nullptr) payload->StandAt(place);
    return do_op(op);
  }
};

}  // namespace iobench

#endif  // WORKER_ENGINE_BUFFERS_IN_TURN_H_

#include "worker/engine/rotating_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/status_util.h"

namespace iobench {

absl::Status RotatingBuffers::Allocate(uint64_t buffer_bytes, uint32_t longest_op_bytes, Starts starts,
                                       Payload* payload) {
  const size_t whole_bytes =
      (size_t{longest_op_bytes} + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  const bool on_boundaries = starts == Starts::kOnRecords && longest_op_bytes % kAlignmentBytes == 0;
  place_bytes_ = whole_bytes + (on_boundaries ? 0 : kAlignmentBytes);
  const size_t place_count = std::max<size_t>(1, buffer_bytes / place_bytes_);
  IOBENCH_ASSIGN_OR_RETURN(memory_, AlignedBuffer::AllocateForOps(place_count * place_bytes_));
  at_ = 0;
  if (payload == nullptr) return absl::OkStatus();
  for (size_t at = 0; at < memory_->size(); at += longest_op_bytes) {
    const Op piece{.kind = OpKind::kWrite,
                   .object = 0,
                   .offset = at,
                   .length = static_cast<uint32_t>(std::min<size_t>(longest_op_bytes, memory_->size() - at))};
    std::memcpy(memory_->data() + at, payload->Next(piece), piece.length);
  }
  return absl::OkStatus();
}

}  // namespace iobench

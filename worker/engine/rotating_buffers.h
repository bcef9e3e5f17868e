// The rotating buffers of -m. Reusing one buffer for every record would keep it in the processor's cache; rotating
// through several makes the lane and the kernel access main memory.
#ifndef WORKER_ENGINE_ROTATING_BUFFERS_H_
#define WORKER_ENGINE_ROTATING_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/model/op.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/payload.h"
#include "worker/engine/io_engine.h"

namespace iobench {

// As many buffers as fit into the requested memory, at least one, each large enough for the longest op. Each lane has
// its own; not thread-safe.
class RotatingBuffers {
 public:
  // Where ops start: kAnywhere is for traces.
  enum class Starts { kOnRecords, kAnywhere };

  // Allocates the buffers and fills them with data from `payload`; null if nothing is written. ResourceExhausted: not
  // enough memory. REQUIRES: buffer_bytes > 0.
  absl::Status Allocate(uint64_t buffer_bytes, uint32_t longest_op_bytes, Starts starts, Payload* payload);

  // False until Allocate has succeeded. As long as it is false, the lane uses its single buffer, and the functions
  // below must not be called.
  bool in_use() const { return memory_.has_value(); }
  size_t place_count() const { return memory_->size() / place_bytes_; }

  // Returns the next buffer, aligned to 4 KiB. It has room for the longest op at any offset within a 4 KiB block.
  std::byte* Take() {
    if (at_ == memory_->size()) at_ = 0;
    std::byte* const place = memory_->data() + at_;
    at_ += place_bytes_;
    return place;
  }

  // The page size, which also suits O_DIRECT.
  static constexpr size_t kAlignmentBytes = 4096;

 private:
  std::optional<AlignedBuffer> memory_;
  size_t place_bytes_ = 0;
  size_t at_ = 0;
};

inline RotatingBuffers::Starts StartsOf(const EngineOptions& options) {
  return options.replays_trace ? RotatingBuffers::Starts::kAnywhere : RotatingBuffers::Starts::kOnRecords;
}

// Sets the buffer that an op functor reads into. Engines overload it for functors that wrap others.
template <typename DoOp>
void SetReadBuffer(DoOp& do_op, std::byte* buffer) {
  do_op.read_buffer = buffer;
}

// Wraps another op functor: each op uses the next buffer.
template <typename DoOp>
struct WithRotatingBuffers {
  mutable DoOp do_op;
  RotatingBuffers* buffers;
  Payload* payload;  // null if nothing is written

  int64_t operator()(const Op& op) const {
    std::byte* const place = buffers->Take();
    SetReadBuffer(do_op, place + op.offset % RotatingBuffers::kAlignmentBytes);
    if (payload != nullptr) payload->StandAt(place);
    return do_op(op);
  }
};

}  // namespace iobench

#endif  // WORKER_ENGINE_ROTATING_BUFFERS_H_

// Where the data of ops in flight stand: one buffer for each slot of a queue.
#ifndef WORKER_ENGINE_SLOT_BUFFERS_H_
#define WORKER_ENGINE_SLOT_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/op.h"
#include "worker/aligned_buffer.h"
#include "worker/payload.h"

namespace iobench {

// Each is aligned to 4 KiB and takes the longest op, in either direction.
class SlotBuffers {
 public:
  // `first`: what slot 0 uses, null for memory of its own; it must outlive the use. The lane's read buffer makes a lane
  // with one slot leave its data where it does with every other engine. ResourceExhausted: not so much memory.
  absl::Status Allocate(std::byte* first, uint32_t depth, uint32_t longest_op_bytes);

  std::byte* operator[](uint32_t slot) const { return of_slot_[slot]; }
  size_t bytes_each() const { return bytes_each_; }

  // Puts what a write is to write into its slot, where it stays while the op is in flight. It lies before the op's begin.
  std::byte* FilledFor(const Op& op, uint32_t slot, Payload& payload) {
    payload.CopyTo(of_slot_[slot], op);
    return of_slot_[slot];
  }

 private:
  std::optional<AlignedBuffer> memory_;
  std::vector<std::byte*> of_slot_;
  size_t bytes_each_ = 0;
};

}  // namespace iobench

#endif  // WORKER_ENGINE_SLOT_BUFFERS_H_

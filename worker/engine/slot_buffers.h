// Buffers for ops in flight: one per slot of a queue.
#ifndef WORKER_ENGINE_SLOT_BUFFERS_H_
#define WORKER_ENGINE_SLOT_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/model/op.h"
#include "worker/data/aligned_buffer.h"
#include "worker/data/payload.h"

namespace iobench {

// Each buffer is aligned to 4 KiB and large enough to read or write the longest op. A buffer belongs to the op in its
// slot from Prepare to the end of the op. Each lane has its own; not thread-safe. Does not allocate after Allocate.
class SlotBuffers {
 public:
  // `first`: the buffer of slot 0, which must outlive the use; null: allocate it too. With the lane's read buffer, a
  // lane with one slot leaves its data where all other engines leave it. ResourceExhausted: not enough memory, which is
  // checked in advance from 256 MiB on, because the kernel would grant it and kill the process later.
  absl::Status Allocate(std::byte* first, uint32_t depth, uint32_t longest_op_bytes);

  // Valid from Allocate until the destructor. `bytes_each` is the size of each buffer, a multiple of 4 KiB.
  std::byte* operator[](uint32_t slot) const { return of_slot_[slot]; }
  size_t bytes_each() const { return bytes_each_; }

  // Copies the data of a write into its slot, where it stays while the op is in flight. Call it before the op begins.
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

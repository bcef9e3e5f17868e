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

  // Puts what a write is to write into its slot: a copy, because the lane's one pool of data is stamped anew for the
  // next op while this one is in flight. It lies before the op's begin. Always of the same payload.
  std::byte* FilledFor(const Op& op, uint32_t slot, Payload& payload) {
    Held& held = held_[slot];
    payload.CopyTo(of_slot_[slot], op, held.is_data ? &held.op : nullptr);
    held = {op, true};
    return of_slot_[slot];
  }
  // Where a read may put what it brings.
  std::byte* EmptyFor(uint32_t slot) {
    held_[slot].is_data = false;
    return of_slot_[slot];
  }

 private:
  struct Held {
    Op op;
    bool is_data = false;
  };
  std::optional<AlignedBuffer> memory_;
  std::vector<std::byte*> of_slot_;
  std::vector<Held> held_;  // what stands there
  size_t bytes_each_ = 0;
};

}  // namespace iobench

#endif  // WORKER_ENGINE_SLOT_BUFFERS_H_

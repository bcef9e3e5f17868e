#include "worker/engine/slot_buffers.h"

#include "absl/strings/str_cat.h"
#include "common/process/usable_memory.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kAlwaysTriedBytes = size_t{256} << 20;

}  // namespace

absl::Status SlotBuffers::Allocate(std::byte* first, uint32_t depth, uint32_t longest_op_bytes) {
  bytes_each_ = (size_t{longest_op_bytes} + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uint32_t borrowed = first != nullptr ? 1 : 0;
  const size_t own_bytes = bytes_each_ * (depth - borrowed);
  of_slot_.assign(depth, first);
  if (own_bytes == 0) return absl::OkStatus();
  const auto too_much = [&] {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", depth, " ops of ",
                                                     FormatBytes(static_cast<double>(longest_op_bytes)),
                                                     " in flight: use a smaller --depth or -r"));
  };
  // Checked in advance, because the kernel would grant the memory and kill the process when it is touched.
  if (own_bytes > kAlwaysTriedBytes) {
    const uint64_t available_bytes = AvailableMemoryBytes();
    if (available_bytes > 0 && own_bytes > available_bytes) return too_much();
  }
  auto memory = AlignedBuffer::AllocateForOps(own_bytes);
  if (!memory.ok()) return too_much();
  memory_ = *std::move(memory);
  for (uint32_t slot = borrowed; slot < depth; ++slot) {
    of_slot_[slot] = memory_->data() + bytes_each_ * (slot - borrowed);
  }
  return absl::OkStatus();
}

}  // namespace iobench

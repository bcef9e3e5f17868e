#include "worker/data/aligned_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {

absl::StatusOr<AlignedBuffer> AlignedBuffer::Allocate(size_t bytes, size_t alignment) {
  alignment = std::max<size_t>(alignment, 4096);
  // Half of the address space is more than any machine has, and rounding cannot overflow below it.
  void* data = nullptr;
  const size_t rounded = (std::clamp<size_t>(bytes, 1, PTRDIFF_MAX) + alignment - 1) / alignment * alignment;
  if (bytes < PTRDIFF_MAX) data = std::aligned_alloc(alignment, rounded);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a buffer of ", bytes, " bytes"));
  }
  std::memset(data, 0, rounded);  // touched here, so that no op has page faults
  return AlignedBuffer(static_cast<std::byte*>(data), bytes);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  std::free(data_);
}

}  // namespace iobench

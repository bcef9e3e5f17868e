// Memory that O_DIRECT takes.
#ifndef WORKER_ALIGNED_BUFFER_H_
#define WORKER_ALIGNED_BUFFER_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace iobench {

// Aligned to 4 KiB (or `alignment` if larger), touched. Move only.
class AlignedBuffer {
 public:
  static absl::StatusOr<AlignedBuffer> Allocate(size_t bytes, size_t alignment = 4096);  // ResourceExhausted
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  AlignedBuffer(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

}  // namespace iobench

#endif  // WORKER_ALIGNED_BUFFER_H_

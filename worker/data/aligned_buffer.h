// Page-aligned memory that is suitable for O_DIRECT.
#ifndef WORKER_DATA_ALIGNED_BUFFER_H_
#define WORKER_DATA_ALIGNED_BUFFER_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace iobench {

// Memory aligned to 4 KiB, or to `alignment` if that is larger. It is zeroed, so all pages have been touched and no op
// causes page faults in it. Move-only; a moved-from buffer is empty. Threads share it as they would any memory.
class AlignedBuffer {
 public:
  // `alignment` is a power of two. ResourceExhausted: not enough memory, as far as malloc can tell; the kernel may also
  // kill the process when the pages are touched.
  static absl::StatusOr<AlignedBuffer> Allocate(size_t bytes, size_t alignment = 4096);
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();
  std::byte* data() const { return data_; }
  // The requested size, without the padding that alignment adds at the end.
  size_t size() const { return size_; }

 private:
  AlignedBuffer(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

}  // namespace iobench

#endif  // WORKER_DATA_ALIGNED_BUFFER_H_

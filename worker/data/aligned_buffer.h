// Page-aligned memory that is suitable for O_DIRECT.
#ifndef WORKER_DATA_ALIGNED_BUFFER_H_
#define WORKER_DATA_ALIGNED_BUFFER_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace iobench {

// Memory aligned to 4 KiB, or to `alignment` if that is larger. All pages have been touched. Move-only.
class AlignedBuffer {
 public:
  static absl::StatusOr<AlignedBuffer> Allocate(size_t bytes, size_t alignment = 4096);  // ResourceExhausted: not
                                                                                         // enough memory
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

#endif  // WORKER_DATA_ALIGNED_BUFFER_H_

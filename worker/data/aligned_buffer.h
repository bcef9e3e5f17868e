// Page-aligned memory that is suitable for O_DIRECT.
#ifndef WORKER_DATA_ALIGNED_BUFFER_H_
#define WORKER_DATA_ALIGNED_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace iobench {

// Memory aligned to 4 KiB, or to `alignment` if that is larger. It is zeroed, and all its pages have been touched by
// the thread that allocated it: so no op causes page faults in it, and it is on that thread's NUMA node. Move-only; a
// moved-from buffer is empty. Threads share it as they would any memory.
class AlignedBuffer {
 public:
  // From this size on, AllocateForOps uses huge pages.
  static constexpr size_t kLargeBytes = size_t{1} << 20;

  // `alignment` is a power of two. ResourceExhausted: not enough memory, as far as malloc can tell; the kernel may also
  // kill the process when the pages are touched.
  static absl::StatusOr<AlignedBuffer> Allocate(size_t bytes, size_t alignment = 4096);
  // For data that ops move. Large ones are mapped anew, so that pages that another thread has touched are never used
  // again, and in huge pages where the kernel offers these (buffer_pages.h says whether it did). ResourceExhausted: as
  // above.
  static absl::StatusOr<AlignedBuffer> AllocateForOps(size_t bytes);
  // Returns the memory that AllocateForOps takes for a buffer: up to 1 MiB more than its size.
  static uint64_t FootprintForOps(uint64_t bytes);

  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();
  std::byte* data() const { return data_; }
  // The requested size, without the padding that alignment adds at the end.
  size_t size() const { return size_; }

 private:
  AlignedBuffer(std::byte* data, size_t size, size_t mapped_bytes)
      : data_(data), size_(size), mapped_bytes_(mapped_bytes) {}
  std::byte* data_;
  size_t size_;
  size_t mapped_bytes_;  // 0: from malloc
};

}  // namespace iobench

#endif  // WORKER_DATA_ALIGNED_BUFFER_H_

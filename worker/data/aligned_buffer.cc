#include "worker/data/aligned_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/data/buffer_pages.h"

namespace iobench {
namespace {

constexpr size_t kPageBytes = 4096;

size_t RoundedUp(size_t bytes, size_t unit_bytes) {
  return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

absl::Status NoMemory(size_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("no memory for a buffer of ", bytes, " bytes"));
}

// Maps memory at a multiple of a huge page; null: there is none.
std::byte* MapAligned(size_t bytes) {
  const size_t all_bytes = bytes + kHugePageBytes;
  void* const all = ::mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  std::byte* const begin = static_cast<std::byte*>(all);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const size_t before = RoundedUp(address, kHugePageBytes) - address;
  if (before > 0) ::munmap(begin, before);
  if (before < kHugePageBytes) ::munmap(begin + before + bytes, kHugePageBytes - before);
  return begin + before;
}

}  // namespace

absl::StatusOr<AlignedBuffer> AlignedBuffer::Allocate(size_t bytes, size_t alignment) {
  alignment = std::max(alignment, kPageBytes);
  // Half of the address space is more than any machine has, and rounding cannot overflow below it.
  void* data = nullptr;
  const size_t rounded = RoundedUp(std::clamp<size_t>(bytes, 1, PTRDIFF_MAX), alignment);
  if (bytes < PTRDIFF_MAX) data = std::aligned_alloc(alignment, rounded);
  if (data == nullptr) return NoMemory(bytes);
  std::memset(data, 0, rounded);  // touched here, so that no op has page faults
  return AlignedBuffer(static_cast<std::byte*>(data), bytes, /*mapped_bytes=*/0);
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::AllocateForOps(size_t bytes) {
  if (bytes < kLargeBytes) return Allocate(bytes);
  if (bytes >= PTRDIFF_MAX) return NoMemory(bytes);
  const size_t mapped_bytes = FootprintForOps(bytes);
  std::byte* const data = MapAligned(mapped_bytes);
  if (data == nullptr) return NoMemory(bytes);
  // Fails on kernels without huge pages, whose pages are then small ones.
  static_cast<void>(::madvise(data, mapped_bytes, MADV_HUGEPAGE));
  // Only written pages are the process's own: the kernel zeroes them at the first write.
  for (size_t at = 0; at < bytes; at += kPageBytes) static_cast<volatile std::byte&>(data[at]) = std::byte{0};
  AddLargeBuffer({data, bytes});
  return AlignedBuffer(data, bytes, mapped_bytes);
}

uint64_t AlignedBuffer::FootprintForOps(uint64_t bytes) {
  if (bytes > PTRDIFF_MAX) return bytes;
  // A last part of less than half a huge page is left in small pages.
  return bytes % kHugePageBytes >= kLargeBytes ? RoundedUp(bytes, kHugePageBytes) : RoundedUp(bytes, kPageBytes);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (mapped_bytes_ == 0) {
    std::free(data_);
    return;
  }
  RemoveLargeBuffer({data_, size_});
  ::munmap(data_, mapped_bytes_);
}

}  // namespace iobench

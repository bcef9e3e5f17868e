// The data that lanes write: incompressible, different per lane, block and phase, and nearly free.
//
// A 1 MiB pool of random bytes per process (read only, shared by all lanes, made from the seed); each lane has a
// window of its own into a private copy and stamps 8 bytes into every 4 KiB it writes (lane, phase and byte offset
// mixed, so that no two blocks of a run are equal). Cost measured at 0.977 of writing a constant buffer
// (docs/performance.md).
#ifndef WORKER_PAYLOAD_H_
#define WORKER_PAYLOAD_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "common/op.h"

namespace iobench {

// Memory that O_DIRECT takes: aligned to 4 KiB (or `alignment` if larger), touched. Move only.
class AlignedBuffer {
 public:
  static absl::StatusOr<AlignedBuffer> Allocate(size_t bytes, size_t alignment = 4096);   // ResourceExhausted
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

// One per lane, one thread. Next() is called once per write op inside the timed loop: no allocation, no branch on
// anything but the length.
class Payload {
 public:
  static constexpr size_t kPoolBytes = 1 << 20;
  static constexpr size_t kStampEveryBytes = 4096;

  // `largest_record_bytes` > 0; `phase` and `lane` make the data differ.
  static absl::StatusOr<Payload> Create(uint64_t seed, uint32_t lane, uint32_t phase, uint32_t largest_record_bytes);

  // The data for this write: op.length bytes, 4 KiB aligned, valid until the next call.
  const std::byte* Next(const Op& op);

  // What Next would write for `op` under these identities, for tests and verification: fills `out`.
  static void Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out);

 private:
  Payload(AlignedBuffer window, uint64_t salt);
  AlignedBuffer window_;
  uint64_t salt_;
};

}  // namespace iobench

#endif  // WORKER_PAYLOAD_H_

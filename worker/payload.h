// The data that lanes write: incompressible, different per lane, block and phase, and nearly free.
//
// Each lane has a window of its own, 512 KiB of random bytes made from seed, lane and phase. A record's data is the
// window from its offset on (modulo 512 KiB), with an 8-byte stamp at the start of every 4 KiB block of the file (lane,
// phase, file and block mixed), so that no two blocks of a run are equal. So the data at a position of a file does
// not depend on the record size that wrote it.
//
// Why 512 KiB: file and window share the second-level cache. On a processor with 2 MiB of it, rewriting cached 4 KiB
// records runs at 0.97 of writing a constant buffer; with a window of 1 MiB at 0.92 to 0.95. What a compressor sees is
// random as far as it looks back less than that; one with larger blocks and a longer window would find repetitions.
#ifndef WORKER_PAYLOAD_H_
#define WORKER_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "common/op.h"
#include "worker/pattern/mix.h"

namespace iobench {

// Memory that O_DIRECT takes: aligned to 4 KiB (or `alignment` if larger), touched. Move only.
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

// One per lane, one thread. Next() is called once per write op inside the timed loop: no allocation, no branch on
// anything but the length.
class Payload {
 public:
  static constexpr size_t kPoolBytes = 512 << 10;
  static constexpr size_t kStampEveryBytes = 4096;

  // `largest_record_bytes` > 0; `phase` and `lane` make the data differ.
  static absl::StatusOr<Payload> Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes);

  // The data for this write: op.length bytes, valid until the next call; in memory they are aligned as op.offset is,
  // up to 4 KiB, which suits O_DIRECT.
  const std::byte* Next(const Op& op) {
    const uint64_t first_block = op.offset / kStampEveryBytes;
    const uint64_t block_count =
        (op.offset + op.length + kStampEveryBytes - 1) / kStampEveryBytes - first_block;
    std::byte* const blocks = window_.data() + (first_block * kStampEveryBytes) % kPoolBytes;
    for (uint64_t i = 0; i < block_count; ++i) {
      const uint64_t stamp = StampOf(salt_, op.object, first_block + i);
      std::memcpy(blocks + i * kStampEveryBytes, &stamp, sizeof(stamp));
    }
    return blocks + op.offset % kStampEveryBytes;
  }

  // What Next would write for `op` under these identities, for tests and verification: fills `out`.
  static void Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out);

 private:
  Payload(AlignedBuffer window, uint64_t salt) : window_(std::move(window)), salt_(salt) {}

  static uint64_t StampOf(uint64_t salt, uint32_t object, uint64_t block) {
    return Mix(salt ^ (block + (uint64_t{object} << 40)) * kGoldenRatio64);
  }

  AlignedBuffer window_;
  uint64_t salt_;
};

}  // namespace iobench

#endif  // WORKER_PAYLOAD_H_

#include "worker/payload.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// Mixed last, so that a stamp never equals the random bytes it stands on.
constexpr uint64_t kStampDomain = 1;
constexpr uint64_t kPoolDomain = 2;

uint64_t SaltOf(uint64_t domain, uint64_t seed, uint32_t lane, uint32_t phase) {
  return MixAll(seed, lane, phase, domain);
}

uint64_t PoolWord(uint64_t pool_salt, uint64_t word_index) {
  return Mix(pool_salt + word_index * kGoldenRatio64);
}

}  // namespace

absl::StatusOr<AlignedBuffer> AlignedBuffer::Allocate(size_t bytes, size_t alignment) {
  alignment = std::max<size_t>(alignment, 4096);
  // Half of the address space is more than any machine has, and the rounding cannot wrap round below it.
  void* data = nullptr;
  const size_t rounded = (std::clamp<size_t>(bytes, 1, PTRDIFF_MAX) + alignment - 1) / alignment * alignment;
  if (bytes < PTRDIFF_MAX) data = std::aligned_alloc(alignment, rounded);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a buffer of ", bytes, " bytes"));
  }
  std::memset(data, 0, rounded);  // touched here, so that no page fault falls into an op
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

absl::StatusOr<Payload> Payload::Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes) {
  assert(largest_record_bytes > 0);
  // A record may begin in the last block of the pool and end in the middle of one.
  absl::StatusOr<AlignedBuffer> window =
      AlignedBuffer::Allocate(kPoolBytes + size_t{largest_record_bytes} + 2 * kStampEveryBytes);
  if (!window.ok()) return window.status();
  const uint64_t salt = SaltOf(kPoolDomain, seed, lane, phase);
  for (size_t at = 0; at < kPoolBytes; at += sizeof(uint64_t)) {
    const uint64_t word = PoolWord(salt, at / sizeof(uint64_t));
    std::memcpy(window->data() + at, &word, sizeof(word));
  }
  for (size_t at = kPoolBytes; at < window->size(); at += kPoolBytes) {
    std::memcpy(window->data() + at, window->data(), std::min(kPoolBytes, window->size() - at));
  }
  return Payload(*std::move(window), SaltOf(kStampDomain, seed, lane, phase));
}

void Payload::Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out) {
  assert(out.size() >= op.length);
  const uint64_t pool_salt = SaltOf(kPoolDomain, seed, lane, phase);
  const uint64_t stamp_salt = SaltOf(kStampDomain, seed, lane, phase);
  constexpr uint64_t kWord = sizeof(uint64_t);
  // Word by word from the definition alone, so that it checks Next instead of repeating it.
  for (uint64_t i = 0; i < op.length;) {
    const uint64_t position = op.offset + i;
    const uint64_t word_start = position / kWord * kWord;
    const uint64_t word = word_start % kStampEveryBytes == 0
                              ? StampOf(stamp_salt, op.object, word_start / kStampEveryBytes)
                              : PoolWord(pool_salt, word_start % kPoolBytes / kWord);
    const uint64_t skipped = position - word_start;
    const uint64_t count = std::min(kWord - skipped, op.length - i);
    std::memcpy(out.data() + i, reinterpret_cast<const std::byte*>(&word) + skipped, count);
    i += count;
  }
}

}  // namespace iobench

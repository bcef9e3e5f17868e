#include "worker/payload.h"

#include <algorithm>
#include <cassert>

namespace iobench {
namespace {

// Mixed last, so that a stamp never equals the random bytes it stands on.
constexpr uint64_t kStampDomain = 1;
constexpr uint64_t kPoolDomain = 2;

uint64_t SaltOf(uint64_t domain, uint64_t seed, uint32_t lane, uint32_t phase) {
  return MixAll(seed, lane, phase, domain);
}

}  // namespace

absl::StatusOr<Payload> Payload::Create(uint64_t seed, uint32_t lane, uint32_t phase,
                                        uint32_t largest_record_bytes, const PoolContents& contents) {
  assert(largest_record_bytes > 0);
  const PoolWords words(SaltOf(kPoolDomain, seed, lane, phase), contents);
  absl::StatusOr<Pool> pool = Pool::Create(words, largest_record_bytes);
  if (!pool.ok()) return pool.status();
  return Payload(*std::move(pool), SaltOf(kStampDomain, seed, lane, phase),
                 contents.constant ? 0 : ~uint64_t{0});
}

void Payload::Expected(uint64_t seed, uint32_t lane, uint32_t phase, const Op& op, std::span<std::byte> out,
                       const PoolContents& contents) {
  assert(out.size() >= op.length);
  const PoolWords words(SaltOf(kPoolDomain, seed, lane, phase), contents);
  const uint64_t stamp_salt = SaltOf(kStampDomain, seed, lane, phase);
  constexpr uint64_t kWord = sizeof(uint64_t);
  // Word by word from the definition alone, so that it checks Next instead of repeating it.
  for (uint64_t i = 0; i < op.length;) {
    const uint64_t position = op.offset + i;
    const uint64_t word_start = position / kWord * kWord;
    const bool stamped = word_start % kStampEveryBytes == 0 && !contents.constant;
    const uint64_t word = stamped ? StampOf(stamp_salt, op.object, word_start / kStampEveryBytes)
                                  : words.At(word_start / kWord);
    const uint64_t skipped = position - word_start;
    const uint64_t count = std::min(kWord - skipped, op.length - i);
    std::memcpy(out.data() + i, reinterpret_cast<const std::byte*>(&word) + skipped, count);
    i += count;
  }
}

}  // namespace iobench

#include "worker/pattern/permutation.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "worker/pattern/mix.h"

namespace iobench {
namespace {

// With fewer bits, the bijection has too few orders: two records would nearly always have the same order. A pass over a
// single record therefore costs 64 candidates.
constexpr int kFewestBits = 6;

}  // namespace

Permutation::Permutation(uint64_t count, uint64_t key) : count_(count) {
  assert(count > 0 && count <= kMaxCount);
  const int bits = std::max(kFewestBits, static_cast<int>(std::bit_width(count - 1)));
  mask_ = (uint64_t{1} << bits) - 1;
  shift_ = (bits + 1) / 2;
  for (Round& round : rounds_) {
    round.addend = Mix(key += kGoldenRatio64);
    round.multiplier = (Mix(key += kGoldenRatio64) & ~uint64_t{7}) | 5;
  }
}

size_t Permutation::Fill(std::span<uint64_t> out) {
  size_t filled = 0;
  uint64_t candidate = next_;
  // No branch on the image: half of the candidates may be skipped, and a mispredicted branch costs more than another
  // candidate.
  while (filled < out.size() && candidate <= mask_) {
    const uint64_t image = ImageOf(candidate++);
    out[filled] = image;
    filled += image < count_ ? 1 : 0;
  }
  next_ = candidate;
  return filled;
}

// An image >= count is mapped again, which ends at the latest when its cycle comes back to the number. Those numbers
// are kept apart without a branch, as in Fill.
void Permutation::Map(std::span<uint64_t> numbers) const {
  assert(numbers.size() <= kMostAtOnce);
  std::array<uint32_t, kMostAtOnce> outside;
  size_t outside_count = 0;
  for (uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = ImageOf(numbers[i]);
    outside[outside_count] = i;
    outside_count += numbers[i] >= count_ ? 1 : 0;
  }
  while (outside_count > 0) {
    size_t still_outside = 0;
    for (size_t i = 0; i < outside_count; ++i) {
      uint64_t& number = numbers[outside[i]];
      number = ImageOf(number);
      outside[still_outside] = outside[i];
      still_outside += number >= count_ ? 1 : 0;
    }
    outside_count = still_outside;
  }
}

void Permutation::Unread(size_t number_count) {
  while (number_count > 0) {
    assert(next_ > 0);
    if (ImageOf(--next_) < count_) --number_count;
  }
}

}  // namespace iobench

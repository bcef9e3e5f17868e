// A random order of the numbers 0 … count-1, each exactly once, in constant memory.
#ifndef WORKER_PATTERN_PERMUTATION_H_
#define WORKER_PATTERN_PERMUTATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace iobench {

// Enumerates 0 to 2^k - 1, where 2^k >= count, and maps each number with a keyed bijection on k bits. Images >= count
// are skipped (at most half of them, for counts above 64). Deterministic in (count, key). Not thread-safe.
//
// Each candidate takes four rounds of multiply and xor-shift, which cost 2.5 ns because consecutive candidates overlap
// in the processor. With three rounds, some keys made neighbours share or avoid a stripe up to 100 standard deviations
// too often (index modulo 2 to 1024, lag 1 to 64); with four rounds and these multipliers, the worst of 24,000 such
// tests is 4.2. An LCG modulo 2^k would be cheaper, but its low bits have short periods: it would visit the stripes of
// striped storage in rotation, which gives flattering results.
class Permutation {
 public:
  static constexpr uint64_t kMaxCount = uint64_t{1} << 62;

  Permutation(uint64_t count, uint64_t key);  // REQUIRES: 0 < count <= kMaxCount

  // Writes the next numbers into `out` and returns their count. It is less than requested only at the end; 0: all
  // numbers have been returned.
  size_t Fill(std::span<uint64_t> out);

  // Replaces each number by the one that it is mapped to: a bijection on 0 … count-1, with another order than that of
  // Fill. Numbers may be repeated. REQUIRES: each is below count; there are at most kMostAtOnce.
  static constexpr size_t kMostAtOnce = 64;
  void Map(std::span<uint64_t> numbers) const;

  // Goes back by `number_count` numbers. REQUIRES: at least that many have been returned.
  void Unread(size_t number_count);

  // Goes to the end, as if all numbers had been returned.
  void ToEnd() { next_ = mask_ + 1; }

 private:
  static constexpr int kRounds = 4;
  struct Round {
    uint64_t addend;
    uint64_t multiplier;  // 5 modulo 8: neither 1 nor 2^k - 1, which would leave the low bits as they are
  };
  uint64_t ImageOf(uint64_t x) const {
    for (const Round& round : rounds_) {
      x = ((x + round.addend) * round.multiplier) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

  uint64_t count_;
  uint64_t mask_;  // 2^k - 1
  int shift_;
  std::array<Round, kRounds> rounds_;
  uint64_t next_ = 0;  // next candidate; mask_ + 1: done
};

}  // namespace iobench

#endif  // WORKER_PATTERN_PERMUTATION_H_

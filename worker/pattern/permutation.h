// A random order of 0 … count-1, each exactly once, without memory per number.
#ifndef WORKER_PATTERN_PERMUTATION_H_
#define WORKER_PATTERN_PERMUTATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace iobench {

// A keyed bijection on k bits, 2^k >= count, walked from 0 to 2^k - 1; images that are no number of ours are left
// out (at most every second one, for counts above 64). Deterministic in (count, key). One thread.
//
// Four rounds of multiply and xor-shift cost 2.5 ns a candidate, as they overlap from one candidate to the next. With
// three, some keys let neighbours share or avoid a stripe up to 100 standard deviations too often (index modulo 2 to
// 1024, lag 1 to 64); with four and these multipliers the worst of 24,000 such tests is 4.2. An LCG modulo 2^k would
// be cheaper, but its low bits have short periods: on striped storage it would walk the stripes in turn and flatter it.
class Permutation {
 public:
  static constexpr uint64_t kMostCount = uint64_t{1} << 62;

  Permutation(uint64_t count, uint64_t key);  // REQUIRES: 0 < count <= kMostCount

  // The next numbers; fewer than asked for only at the end, 0: every number has been handed out.
  size_t Fill(std::span<uint64_t> out);

  // Goes back by so many numbers. REQUIRES: so many were handed out.
  void Unread(size_t number_count);

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
  uint64_t next_ = 0;  // candidate; mask_ + 1: done
};

}  // namespace iobench

#endif  // WORKER_PATTERN_PERMUTATION_H_

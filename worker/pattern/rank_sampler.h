// Draws ranks of records from a distribution: the hottest record has rank 0.
#ifndef WORKER_PATTERN_RANK_SAMPLER_H_
#define WORKER_PATTERN_RANK_SAMPLER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "common/text/access_text.h"
#include "worker/pattern/mix.h"

namespace iobench {

// Exact and in constant time, however many records there are. The ranks are divided into ranges within which the
// weights differ by at most 1/32. An alias table (A. J. Walker 1977; M. D. Vose 1991) selects a range by the weight that
// it would have if all its ranks weighed as much as its first; a rank of it is then accepted with the probability by
// which it weighs less, which nearly always needs no computation of its weight. Ranges are about 1000, so the tables
// stay in the L2 cache. Immutable.
class RankSampler {
 public:
  // REQUIRES: rank_count > 0; ParseAccess made `access`, which is not kEachOnce.
  RankSampler(const Access& access, uint64_t rank_count);

  // Returns a rank below rank_count that depends on nothing but `random`. Independent, evenly distributed values give
  // independent ranks.
  uint64_t RankAt(uint64_t random) const {
    for (;; random = Mix(random + kGoldenRatio64)) {
      const Cell& cell = cells_[random >> shift_];
      const uint64_t coin = random << (64 - shift_);
      // No branch, which would often be predicted wrongly.
      const Range& range = ranges_[cell.own_or_alias[coin >= cell.own_below]];
      // What is left of the random number is spread over the range: the whole part of the product is the place in it,
      // and the fraction, which is as even for every place, decides whether the rank is accepted.
      const auto product = static_cast<unsigned __int128>(random * kSpread) * range.count;
      const uint64_t rank = range.first + static_cast<uint64_t>(product >> 64);
      const auto fraction = static_cast<uint64_t>(product);
      if (fraction <= range.accepted_below) [[likely]]
        return rank;
      if (IsAccepted(rank, range, fraction)) return rank;
    }
  }

  // The weight of a rank relative to the others. It does not increase with the rank.
  double WeightOf(uint64_t rank) const;

 private:
  // Odd, and 0.82 of 2^64: products of the numbers of any interval with it are spread evenly over all numbers.
  static constexpr uint64_t kSpread = 0xD1B54A32D192ED03u;

  struct Cell {
    uint64_t own_below;  // of 2^64
    std::array<uint32_t, 2> own_or_alias;
  };
  struct Range {
    uint64_t first = 0, count = 0;
    uint64_t accepted_below = 0;  // of 2^64: what even the last rank of the range is accepted with
    double weight = 0;            // of its first rank
    double slope = 0, slack = 0;  // relative to it: per rank, and how far weights may be from that line
  };

  void MakeRanges();
  void MakeCells();
  uint64_t EndOfRange(uint64_t first) const;
  Range RangeOf(uint64_t first, uint64_t end) const;
  bool IsAccepted(uint64_t rank, const Range& range, uint64_t fraction) const;

  const Access access_;
  const uint64_t rank_count_;
  uint64_t hot_count_ = 0;
  uint64_t inflection_ = 0;  // from here on the weights are convex
  double deviation_ = 0;
  double exponent_ = 0;
  std::vector<Range> ranges_;
  std::vector<Cell> cells_;  // 2^n of them; shift_ = 64 - n
  int shift_ = 0;
};

}  // namespace iobench

#endif  // WORKER_PATTERN_RANK_SAMPLER_H_

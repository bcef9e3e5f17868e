#include "worker/pattern/rank_sampler.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace iobench {
namespace {

// The weights of a range differ by at most this ratio. Larger ranges are fewer, but more ranks need their weight.
constexpr double kMostInRange = 1 + 1.0 / 32;
constexpr double kTwoTo64 = 0x1p64;

// `share` of 2^64, for comparisons with even 64-bit numbers.
uint64_t Below(double share) {
  return share >= 1 ? UINT64_MAX : static_cast<uint64_t>(std::max(0.0, share) * kTwoTo64);
}

}  // namespace

RankSampler::RankSampler(const Access& access, uint64_t rank_count) : access_(access), rank_count_(rank_count) {
  assert(rank_count > 0 && access.kind != Access::Kind::kEachOnce);
  const auto count = static_cast<double>(rank_count);
  hot_count_ = std::clamp<uint64_t>(std::llround(count * access.a / 100), 1, rank_count);
  deviation_ = count * access.a / 100;
  if (access.kind == Access::Kind::kNormal) inflection_ = static_cast<uint64_t>(deviation_);
  // The x hottest of all records get the share x^exponent of the ops: h of the records get 1 - h.
  if (access.kind == Access::Kind::kPareto) exponent_ = std::log1p(-access.a) / std::log(access.a);
  MakeRanges();
  MakeCells();
}

double RankSampler::WeightOf(uint64_t rank) const {
  const auto r = static_cast<double>(rank);
  switch (access_.kind) {
    case Access::Kind::kZipf:
      return std::pow(r + 1, -access_.a);
    case Access::Kind::kPareto:
      // (r + 1)^e - r^e, without the difference of two large numbers.
      return rank == 0 ? 1 : std::pow(r, exponent_) * std::expm1(exponent_ * std::log1p(1 / r));
    case Access::Kind::kHot: {
      const auto hot = static_cast<double>(hot_count_), cold = static_cast<double>(rank_count_ - hot_count_);
      return rank < hot_count_ ? access_.b / hot : (100 - access_.b) / cold;
    }
    case Access::Kind::kNormal:
      return std::exp(-0.5 * (r / deviation_) * (r / deviation_));
    case Access::Kind::kEachOnce:
      break;
  }
  return 1;
}

// The first rank after `first` that belongs to another range, or rank_count_. Weights do not increase.
uint64_t RankSampler::EndOfRange(uint64_t first) const {
  const double least = WeightOf(first) / kMostInRange;
  // A range of a normal distribution is concave or convex, not both.
  const uint64_t most = first < inflection_ ? std::min(inflection_, rank_count_) : rank_count_;
  uint64_t in = first, out = first + 1, step = 1;
  while (out < most && WeightOf(out) >= least) {
    in = out;
    out = most - out > step ? out + step : most;
    step *= 2;
  }
  while (out - in > 1) {
    const uint64_t middle = in + (out - in) / 2;
    (WeightOf(middle) >= least ? in : out) = middle;
  }
  return out;
}

void RankSampler::MakeRanges() {
  double sum = 0;
  for (uint64_t first = 0; first < rank_count_;) {
    const double weight = WeightOf(first);
    // No draw of 64 bits selects what weighs less.
    if (weight * static_cast<double>(rank_count_ - first) < sum / kTwoTo64 || weight == 0) break;
    const uint64_t end = EndOfRange(first);
    ranges_.push_back(RangeOf(first, end));
    sum += weight * static_cast<double>(end - first);
    first = end;
  }
}

RankSampler::Range RankSampler::RangeOf(uint64_t first, uint64_t end) const {
  Range range{.first = first, .count = end - first, .weight = WeightOf(first)};
  const double last = WeightOf(end - 1) / range.weight;
  range.accepted_below = Below(last);
  if (range.count < 2) return range;
  const auto steps = static_cast<double>(range.count - 1);
  range.slope = (last - 1) / steps;
  // The weights of a range are convex or concave, so the line from the first to the last is nowhere more than three
  // times as far from them as in the middle, which is at least a third of the way from either end.
  const uint64_t middle = (range.count - 1) / 2;
  const double on_line = 1 + range.slope * static_cast<double>(middle);
  range.slack = 3 * std::abs(WeightOf(first + middle) / range.weight - on_line) + 1e-12;
  return range;
}

// Vose's method: cells that weigh less than the mean are filled up from one that weighs more.
void RankSampler::MakeCells() {
  const size_t cell_count = std::bit_ceil(std::max<size_t>(2, ranges_.size()));
  shift_ = 64 - std::countr_zero(cell_count);
  std::vector<double> parts(cell_count, 0);
  double sum = 0;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    parts[i] = ranges_[i].weight * static_cast<double>(ranges_[i].count);
    sum += parts[i];
  }
  std::vector<uint32_t> small, large;
  for (uint32_t i = 0; i < cell_count; ++i) {
    parts[i] *= static_cast<double>(cell_count) / sum;
    (parts[i] < 1 ? small : large).push_back(i);
  }
  cells_.assign(cell_count, {});
  while (!small.empty() && !large.empty()) {
    const uint32_t low = small.back(), high = large.back();
    small.pop_back();
    // An empty cell is all alias: cells beyond the ranges have no range of their own.
    cells_[low] = {.own_below = Below(parts[low]), .own_or_alias = {low < ranges_.size() ? low : high, high}};
    parts[high] -= 1 - parts[low];
    if (parts[high] >= 1) continue;
    large.pop_back();
    small.push_back(high);
  }
  for (const std::vector<uint32_t>* const rest : {&small, &large}) {
    for (const uint32_t i : *rest) {  // 1 but for rounding
      const uint32_t own = i < ranges_.size() ? i : 0;
      cells_[i] = {.own_below = UINT64_MAX, .own_or_alias = {own, own}};
    }
  }
}

bool RankSampler::IsAccepted(uint64_t rank, const Range& range, uint64_t fraction) const {
  const double on_line = 1 + range.slope * static_cast<double>(rank - range.first);
  if (fraction < Below(on_line - range.slack)) return true;
  if (fraction >= Below(on_line + range.slack)) return false;
  return fraction < Below(WeightOf(rank) / range.weight);
}

}  // namespace iobench

#include "coordinator/analysis/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr size_t kMaxForExact = 40;
constexpr double kNormal95 = 1.959963984540054;  // P(|Z| > this) = 5 %
constexpr uint64_t kPermutationSeed = 20;        // any; fixed, so that equal results give equal histories
constexpr size_t kMinPermutations = 2000;

// Returns the share of all orders of n different values that have at most `inversions` pairs in descending order.
double ShareOfOrders(size_t n, size_t inversions) {
  std::vector<double> share = {1};  // by number of inversions, of the values so far
  for (size_t count = 2; count <= n; ++count) {
    std::vector<double> next(share.size() + count - 1);
    for (size_t i = 0; i < share.size(); ++i) {
      for (size_t more = 0; more < count; ++more) next[i + more] += share[i] / static_cast<double>(count);
    }
    share = std::move(next);
  }
  double sum = 0;
  for (size_t i = 0; i <= inversions && i < share.size(); ++i) sum += share[i];
  return sum;
}

// The slopes between all pairs of points with different times.
std::vector<double> SlopesOf(std::span<const double> times, std::span<const double> values) {
  std::vector<double> slopes;
  for (size_t i = 0; i < times.size(); ++i) {
    for (size_t j = i + 1; j < times.size(); ++j) {
      if (times[j] != times[i]) slopes.push_back((values[j] - values[i]) / (times[j] - times[i]));
    }
  }
  return slopes;
}

// Sum of t (t - 1) (2t + 5) over groups of t equal values.
double TieTerm(std::span<const double> values) {
  std::map<double, size_t> count_of;
  for (const double value : values) ++count_of[value];
  double sum = 0;
  for (const auto& [value, count] : count_of) {
    const double t = static_cast<double>(count);
    sum += t * (t - 1) * (2 * t + 5);
  }
  return sum;
}

// Equal values share the mean of their ranks.
std::vector<double> RanksOf(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(
        (static_cast<double>(first - sorted.begin()) + static_cast<double>(last - sorted.begin()) + 1) / 2);
  }
  return ranks;
}

struct Split {
  size_t first = 0;      // index of the first value after it
  double statistic = 0;  // the rank sum's distance from its expectation, in units that depend on n alone
};

// For a split after k of n values: |W - k (n + 1) / 2| / sqrt(k (n - k)), W the sum of the first k ranks.
Split BestSplit(std::span<const double> ranks) {
  const size_t n = ranks.size();
  Split best;
  double sum = 0;
  for (size_t k = 1; k + kMinSegment <= n; ++k) {
    sum += ranks[k - 1];
    if (k < kMinSegment) continue;
    const double off = std::abs(sum - static_cast<double>(k * (n + 1)) / 2);
    const double statistic = off / std::sqrt(static_cast<double>(k * (n - k)));
    if (statistic > best.statistic) best = {k, statistic};
  }
  return best;
}

// std::shuffle differs between standard libraries.
void Shuffle(std::vector<double>& values, std::mt19937_64& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

void FindChanges(std::span<const double> values, size_t offset, double alpha, std::vector<Change>& changes) {
  if (values.size() < kMinForChanges) return;
  std::vector<double> ranks = RanksOf(values);
  const Split split = BestSplit(ranks);
  if (split.statistic == 0) return;
  // A p-value below alpha needs more than 1 / alpha permutations; with 20 times as many its own error is small.
  const auto permutations = std::max(kMinPermutations, static_cast<size_t>(std::ceil(20 / alpha)));
  const double most = alpha * static_cast<double>(permutations + 1);  // as large, the series itself included
  std::mt19937_64 random(kPermutationSeed);
  size_t as_large = 1;
  constexpr double kRounding = 1e-9;
  for (size_t i = 0; i < permutations; ++i) {
    Shuffle(ranks, random);
    as_large += BestSplit(ranks).statistic >= split.statistic - kRounding ? 1 : 0;
    if (static_cast<double>(as_large) > most) return;  // the usual case ends early
  }
  const double p = static_cast<double>(as_large) / static_cast<double>(permutations + 1);
  FindChanges(values.first(split.first), offset, alpha, changes);
  changes.push_back({offset + split.first, p});
  FindChanges(values.subspan(split.first), offset + split.first, alpha, changes);
}

}  // namespace

double MedianOfSeries(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double TheilSenSlope(std::span<const double> times, std::span<const double> values) {
  return MedianOfSeries(SlopesOf(times, values));
}

SlopeInterval TheilSenInterval(std::span<const double> times, std::span<const double> values) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> slopes = SlopesOf(times, values);
  if (slopes.size() < 3) return {kNan, kNan, kNan};
  std::sort(slopes.begin(), slopes.end());
  const double n = static_cast<double>(values.size()), count = static_cast<double>(slopes.size());
  const double variance = (n * (n - 1) * (2 * n + 5) - TieTerm(times) - TieTerm(values)) / 18;
  const double margin = kNormal95 * std::sqrt(std::max(0.0, variance));
  const auto at = [&](double rank) {  // from 0
    return slopes[static_cast<size_t>(std::clamp(rank, 0.0, count - 1))];
  };
  return {MedianOfSeries(slopes), at(std::round((count - margin) / 2) - 1),
          at(std::round((count + margin) / 2))};
}

KendallTest MannKendall(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  KendallTest test;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j)
      test.s += values[j] > values[i] ? 1 : (values[j] < values[i] ? -1 : 0);
  }
  const double ties = TieTerm(values);
  if (ties == 0 && values.size() <= kMaxForExact) {
    const auto inversions = static_cast<size_t>(std::llround((n * (n - 1) / 2 - std::abs(test.s)) / 2));
    test.p = std::min(1.0, 2 * ShareOfOrders(values.size(), inversions));
    return test;
  }
  const double variance = (n * (n - 1) * (2 * n + 5) - ties) / 18;
  if (variance > 0 && test.s != 0)
    test.p = std::min(1.0, 2 * NormalTail((std::abs(test.s) - 1) / std::sqrt(variance)));
  return test;
}

std::vector<Change> ChangePoints(std::span<const double> values, double alpha) {
  std::vector<Change> changes;
  FindChanges(values, 0, alpha, changes);
  return changes;
}

}  // namespace iobench

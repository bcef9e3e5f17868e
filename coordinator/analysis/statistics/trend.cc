#include "coordinator/analysis/statistics/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "coordinator/analysis/statistics/dependence.h"
#include "coordinator/analysis/statistics/noise.h"

namespace iobench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kTrendSeed = 20;  // any; fixed, so that equal results give equal histories
constexpr size_t kMaxTrendValues = 32;
constexpr size_t kTrendDraws = 5000;     // the smallest p is 1 in as many: enough for a family of 250 phases
constexpr size_t kEnoughForTrend = 20;  // values that show their correlation beside a line
constexpr size_t kEnoughForChange = 40;  // beside two levels, which take more of it away
constexpr size_t kMinChangeDraws = 2000;
// Two levels must leave at most this share of the squares that a cubic, which has as many terms, leaves: a slow wave or
// a steady drift is no change of level.
constexpr double kBetterThanDrift = 0.85;
// Three levels come closer to a wave: they must leave at most this share, also of what two levels leave.
constexpr double kPairBetterThanDrift = 0.5;

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

double KendallS(std::span<const double> values) {
  int s = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j)
      s += static_cast<int>(values[j] > values[i]) - static_cast<int>(values[j] < values[i]);
  }
  return s;
}

// Medians of groups of neighbours, all of the same size; the last ones that fill no group belong to the last.
std::vector<double> Grouped(std::span<const double> values, size_t max_count) {
  if (values.size() <= max_count) return {values.begin(), values.end()};
  const size_t each = (values.size() + max_count - 1) / max_count;
  std::vector<double> grouped;
  for (size_t i = 0; i + each <= values.size(); i += each) {
    const size_t end = i + 2 * each > values.size() ? values.size() : i + each;
    grouped.push_back(MedianOfSeries(values.subspan(i, end - i)));
  }
  return grouped;
}

// |S| of series without a trend, ascending.
std::vector<double> KendallWithoutTrend(size_t n, double correlation) {
  Noise noise(kTrendSeed);
  std::vector<double> series(n), all(kTrendDraws);
  for (double& drawn : all) {
    noise.Fill(correlation, series);
    drawn = std::abs(KendallS(series));
  }
  std::sort(all.begin(), all.end());
  return all;
}

struct Split {
  size_t first = 0;      // index of the first value after it
  double statistic = 0;  // squares between the parts, over squares within them
};

// Equal values within both parts leave rounding alone.
double StatisticOf(double between, double total) {
  constexpr double kRounding = 1e-12;
  return between > 0 ? between / std::max(total - between, kRounding * total) : 0;
}

Split BestSplit(std::span<const double> values) {
  const size_t n = values.size();
  double mean = 0, total = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(n);
  for (const double value : values) total += (value - mean) * (value - mean);
  double between = 0;
  Split best;
  for (size_t k = 1; k + kMinSegment <= n; ++k) {
    sum += values[k - 1] - mean;
    const double here = sum * sum * static_cast<double>(n) / static_cast<double>(k * (n - k));
    if (k < kMinSegment || here <= between) continue;
    between = here;
    best.first = k;
  }
  best.statistic = StatisticOf(between, total);
  return best;
}

// The two splits into three levels that leave the least squares.
std::vector<size_t> BestPair(std::span<const double> values) {
  const size_t n = values.size();
  std::vector<double> sums = {0};
  for (const double value : values) sums.push_back(sums.back() + (value - values[0]));
  const auto between = [&](size_t begin, size_t end) {
    const double sum = sums[end] - sums[begin];
    return sum * sum / static_cast<double>(end - begin);
  };
  std::vector<size_t> best;
  double most = -1;
  for (size_t first = kMinSegment; first + 2 * kMinSegment <= n; ++first) {
    for (size_t second = first + kMinSegment; second + kMinSegment <= n; ++second) {
      const double here = between(0, first) + between(first, second) + between(second, n);
      if (here <= most) continue;
      most = here;
      best = {first, second};
    }
  }
  return best;
}

// What the levels between the splits leave.
std::vector<double> BesideLevels(std::span<const double> values, const std::vector<size_t>& firsts) {
  std::vector<double> rest(values.begin(), values.end());
  for (size_t i = 0; i <= firsts.size(); ++i) {
    const size_t begin = i == 0 ? 0 : firsts[i - 1];
    const size_t end = i < firsts.size() ? firsts[i] : rest.size();
    double mean = 0;
    for (size_t at = begin; at < end; ++at) mean += rest[at] / static_cast<double>(end - begin);
    for (size_t at = begin; at < end; ++at) rest[at] -= mean;
  }
  return rest;
}

double SquaresOf(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return squares;
}

// The squares that a cubic over the index leaves (Gram and Schmidt on 1, t, t^2, t^3).
double SquaresBesideCubic(std::span<const double> values) {
  const size_t n = values.size();
  std::vector<double> rest(values.begin(), values.end());
  std::array<std::vector<double>, 4> terms;
  const auto take = [n](const std::vector<double>& term, std::vector<double>& from) {
    double product = 0;
    for (size_t i = 0; i < n; ++i) product += term[i] * from[i];
    for (size_t i = 0; i < n; ++i) from[i] -= product * term[i];
  };
  for (size_t power = 0; power < terms.size(); ++power) {
    std::vector<double>& term = terms[power];
    for (size_t i = 0; i < n; ++i)
      term.push_back(std::pow(2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1, power));
    for (size_t lower = 0; lower < power; ++lower) take(terms[lower], term);
    const double length = std::sqrt(SquaresOf(term));
    for (double& value : term) value /= length;
    take(term, rest);
  }
  return SquaresOf(rest);
}

// The share of series without a change that have a split as good as this one; over `alpha` it need not be exact.
double ShareWithSplit(size_t n, double statistic, double correlation, double alpha) {
  // A p-value below alpha needs more than 1 / alpha draws; with 20 times as many its own error is small.
  const auto draws = std::max(kMinChangeDraws, static_cast<size_t>(std::ceil(20 / alpha)));
  const double most = alpha * static_cast<double>(draws + 1);  // as large, the series itself included
  Noise noise(kTrendSeed);
  std::vector<double> series(n);
  size_t as_large = 1;
  for (size_t i = 0; i < draws; ++i) {
    noise.Fill(correlation, series);
    as_large += BestSplit(series).statistic >= statistic ? 1 : 0;
    if (static_cast<double>(as_large) > most) return 1;  // the usual case ends early
  }
  return static_cast<double>(as_large) / static_cast<double>(draws + 1);
}

// Two splits and one, each if its levels describe the series better than a smooth drift, the better ones first.
std::vector<std::vector<size_t>> SplitsOf(std::span<const double> values) {
  if (values.size() < kMinForChanges) return {};
  const Split split = BestSplit(values);
  if (split.statistic == 0) return {};
  const double drift = SquaresBesideCubic(values);
  const double beside_one = SquaresOf(BesideLevels(values, {split.first}));
  // Two levels that leave nothing but rounding are the levels; a third one would fit the rounding.
  constexpr double kRounding = 1e-12;
  if (beside_one <= kRounding * SquaresOf(BesideLevels(values, {}))) return {{split.first}};
  std::vector<std::vector<size_t>> splits;
  const std::vector<size_t> pair = BestPair(values);
  if (!pair.empty() && SquaresOf(BesideLevels(values, pair)) <= kPairBetterThanDrift * std::min(drift, beside_one))
    splits.push_back(pair);
  if (beside_one <= kBetterThanDrift * drift) splits.push_back({split.first});
  return splits;
}

// Each change by itself, up to its neighbours. Empty: one of them is not significant.
std::vector<Change> Tested(std::span<const double> values, const std::vector<size_t>& firsts, double alpha) {
  const double correlation = CautiousCorrelation(BesideLevels(values, firsts), kEnoughForChange);
  std::vector<Change> tested;
  for (size_t i = 0; i < firsts.size(); ++i) {
    const size_t begin = i == 0 ? 0 : firsts[i - 1];
    const size_t end = i + 1 < firsts.size() ? firsts[i + 1] : values.size();
    const std::span<const double> around = values.subspan(begin, end - begin);
    if (around.size() < kMinForChanges) return {};
    const double p = ShareWithSplit(around.size(), BestSplit(around).statistic, correlation, alpha);
    if (p > alpha) return {};
    tested.push_back({firsts[i], p});
  }
  return tested;
}

void FindChanges(std::span<const double> values, size_t offset, double alpha, std::vector<Change>& changes) {
  std::vector<Change> found;
  for (const std::vector<size_t>& firsts : SplitsOf(values)) {
    // Two levels of a noisy part are no reason to overlook the change beside it.
    if (found = Tested(values, firsts, alpha); !found.empty()) break;
  }
  size_t begin = 0;
  for (const Change& change : found) {
    FindChanges(values.subspan(begin, change.first - begin), offset + begin, alpha, changes);
    changes.push_back({offset + change.first, change.p});
    begin = change.first;
  }
  if (!found.empty()) FindChanges(values.subspan(begin), offset + begin, alpha, changes);
}

}  // namespace

double MedianOfSeries(std::span<const double> values) {
  if (values.empty()) return kNan;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double TheilSenSlope(std::span<const double> times, std::span<const double> values) {
  return MedianOfSeries(SlopesOf(times, values));
}

SeriesTrend TrendOf(std::span<const double> all_times, std::span<const double> all_values, double level) {
  const std::vector<double> times = Grouped(all_times, kMaxTrendValues);
  const std::vector<double> values = Grouped(all_values, kMaxTrendValues);
  std::vector<double> slopes = SlopesOf(times, values);
  std::sort(slopes.begin(), slopes.end());
  SeriesTrend trend{.slope = MedianOfSeries(slopes), .low = kNan, .high = kNan};
  trend.kendall_s = KendallS(values);
  if (slopes.empty()) return trend;
  std::vector<double> rest;
  for (size_t i = 0; i < values.size(); ++i) rest.push_back(values[i] - trend.slope * times[i]);
  trend.correlation = CautiousCorrelation(rest, kEnoughForTrend);
  const std::vector<double> without = KendallWithoutTrend(values.size(), trend.correlation);
  const auto as_large = std::lower_bound(without.begin(), without.end(), std::abs(trend.kendall_s));
  trend.p = static_cast<double>(without.end() - as_large + 1) / static_cast<double>(kTrendDraws + 1);
  // The slopes that a test at this level would not reject. If even a perfect order is not rejected, that is all slopes.
  const double margin = without[static_cast<size_t>(std::ceil(level * kTrendDraws)) - 1];
  const double n = static_cast<double>(values.size()), count = static_cast<double>(slopes.size());
  if (margin >= n * (n - 1) / 2) return trend;
  const auto at = [&](double rank) {  // from 0
    return slopes[static_cast<size_t>(std::clamp(rank, 0.0, count - 1))];
  };
  trend.low = at(std::floor((count - margin) / 2) - 1);
  trend.high = at(std::ceil((count + margin) / 2));
  return trend;
}

std::vector<Change> ChangePoints(std::span<const double> values, double alpha) {
  std::vector<Change> changes;
  FindChanges(values, 0, alpha, changes);
  return changes;
}

}  // namespace iobench

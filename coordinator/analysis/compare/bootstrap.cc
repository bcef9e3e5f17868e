#include "coordinator/analysis/compare/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr size_t kResamples = 1000;  // the error of a standard error from 1,000 resamples is 2 %
constexpr uint64_t kSeed = 20;       // any; fixed, so that equal results give equal comparisons
constexpr double kMaxCorrelation = 0.97;

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The correlation of successive values. The estimate of a short series is too low by about (1 + 3r) / n (Kendall 1954).
double Correlation(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = MeanOf(values);
  double variance = 0, covariance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean);
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean);
  }
  if (variance == 0) return 0;
  const double estimate = covariance / variance;
  return std::clamp(estimate + (1 + 3 * estimate) / n, 0.0, kMaxCorrelation);
}

// Of an AR(1) process: twice the sum of k R(k), over the sum of R(k), where R is the autocovariance.
double Persistence(double correlation) {
  return 2 * correlation / (1 - correlation * correlation);
}

// Blocks of this length underestimate the variance of the mean by this factor (first order; Künsch 1989).
double BlockBias(double correlation, size_t block) {
  return 1 - std::min(0.5, Persistence(correlation) / static_cast<double>(block));
}

// Returns the number of blocks, which need not be whole; nullopt: too few to say anything.
std::optional<double> BlockCount(size_t slices, size_t block) {
  const double count = static_cast<double>(slices) / static_cast<double>(block);
  if (slices < kMinSlices || count < kMinBlocks) return std::nullopt;
  return count;
}

double PercentileOf(std::span<const double> counts, const LatencyOverTime& slices, double percentile) {
  const double wanted = percentile * std::accumulate(counts.begin(), counts.end(), 0.0);
  double below = 0;
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] > 0 && below + counts[bin] >= wanted) {
      const double lower = bin == 0 ? slices.lowest_us : slices.bin_upper_us[bin - 1];
      return lower + (slices.bin_upper_us[bin] - lower) * (wanted - below) / counts[bin];
    }
    below += counts[bin];
  }
  return slices.bin_upper_us.back();
}

// Prefix sums of the counts over two rounds of the slices, so that any block is the difference of two rows.
std::vector<std::vector<double>> PrefixSums(const LatencyOverTime& slices) {
  const size_t n = slices.counts.size(), bins = slices.bin_upper_us.size();
  std::vector<std::vector<double>> sums(2 * n + 1, std::vector<double>(bins));
  for (size_t i = 0; i < 2 * n; ++i) {
    for (size_t bin = 0; bin < bins; ++bin) sums[i + 1][bin] = sums[i][bin] + slices.counts[i % n][bin];
  }
  return sums;
}

}  // namespace

RelativeError ErrorOfMean(std::span<const double> values) {
  // The bootstrap's standard error of a mean after infinitely many resamples has a closed form, the standard deviation
  // with divisor n over sqrt(n). It is too small by sqrt((n - 1) / n), which matters for five repetitions.
  const double n = static_cast<double>(values.size());
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.error = std::sqrt(squares / (n - 1) / n) / mean, .degrees = n - 1};
}

size_t BlockLength(std::span<const double> slices) {
  const double persistence = Persistence(Correlation(slices));
  const double n = static_cast<double>(slices.size());
  return static_cast<size_t>(std::max(1.0, std::ceil(std::cbrt(1.5 * persistence * persistence * n))));
}

std::optional<RelativeError> ErrorOfSeries(std::span<const double> slices) {
  if (slices.size() < kMinSlices) return std::nullopt;
  const size_t n = slices.size();
  const size_t block = BlockLength(slices);
  const std::optional<double> count = BlockCount(n, block);
  const double mean = MeanOf(slices);
  if (!count.has_value() || !(mean > 0)) return std::nullopt;
  // As above, the variance over infinitely many resamples has a closed form: that of the mean of a block that begins at
  // any slice of the circle, over the number of blocks.
  double sum = std::accumulate(slices.begin(), slices.begin() + static_cast<ptrdiff_t>(block), 0.0);
  double squares = 0;
  for (size_t first = 0; first < n; ++first) {
    const double off = sum / static_cast<double>(block) - mean;
    squares += off * off;
    sum += slices[(first + block) % n] - slices[first];
  }
  const double variance = squares / static_cast<double>(n) / (*count - 1);
  return RelativeError{.error = std::sqrt(variance / BlockBias(Correlation(slices), block)) / mean,
                       .degrees = *count - 1};
}

std::optional<RelativeError> ErrorOfPercentile(const LatencyOverTime& slices, double percentile) {
  const size_t n = slices.counts.size(), bins = slices.bin_upper_us.size();
  if (n < kMinSlices || bins == 0) return std::nullopt;
  std::vector<double> beyond(n);  // ops slower than the percentile, by slice: their clusters decide the error
  std::vector<double> all(bins);
  for (const auto& slice : slices.counts) {
    for (size_t bin = 0; bin < bins; ++bin) all[bin] += slice[bin];
  }
  const double percentile_us = PercentileOf(all, slices, percentile);
  for (size_t i = 0; i < n; ++i) {
    for (size_t bin = 0; bin < bins; ++bin) {
      if (slices.bin_upper_us[bin] > percentile_us) beyond[i] += slices.counts[i][bin];
    }
  }
  const size_t block = BlockLength(beyond);
  const std::optional<double> count = BlockCount(n, block);
  if (!count.has_value() || !(percentile_us > 0)) return std::nullopt;
  const std::vector<std::vector<double>> sums = PrefixSums(slices);
  const auto draws = static_cast<size_t>(std::llround(*count));
  std::mt19937_64 random(kSeed);
  double total = 0, squares = 0;
  std::vector<double> merged(bins);
  for (size_t i = 0; i < kResamples; ++i) {
    std::fill(merged.begin(), merged.end(), 0.0);
    for (size_t draw = 0; draw < draws; ++draw) {
      const size_t first = random() % n;
      for (size_t bin = 0; bin < bins; ++bin) merged[bin] += sums[first + block][bin] - sums[first][bin];
    }
    const double off = PercentileOf(merged, slices, percentile) / percentile_us - 1;
    total += off;
    squares += off * off;
  }
  const double mean = total / kResamples;
  const double variance = std::max(0.0, squares / kResamples - mean * mean) * *count / (*count - 1);
  return RelativeError{.error = std::sqrt(variance / BlockBias(Correlation(beyond), block)),
                       .degrees = *count - 1};
}

namespace {

RatioInterval IntervalOf(double log_ratio, double log_error, double degrees, double level) {
  const double reach = log_error > 0 ? StudentQuantile((1 - level) / 2, degrees) * log_error : 0;
  // Without any scatter, figures either differ or do not.
  const double t = log_error > 0 ? std::abs(log_ratio) / log_error
                                 : (log_ratio == 0 ? 0 : std::numeric_limits<double>::infinity());
  return {.ratio = std::exp(log_ratio),
          .low = std::exp(log_ratio - reach),
          .high = std::exp(log_ratio + reach),
          .p = std::min(1.0, 2 * StudentTail(t, degrees)),
          .log_error = log_error,
          .degrees = degrees};
}

// The degrees of freedom of a sum of variances (Welch, Satterthwaite).
class Degrees {
 public:
  void Add(double variance, double degrees) {
    sum_ += variance;
    parts_ += variance * variance / degrees;
    fewest_ = std::min(fewest_, degrees);
  }
  double value() const { return parts_ > 0 ? sum_ * sum_ / parts_ : fewest_; }

 private:
  double sum_ = 0, parts_ = 0;
  double fewest_ = std::numeric_limits<double>::max();
};

}  // namespace

RatioInterval RatioOf(double baseline, const RelativeError& baseline_error, double compared,
                      const RelativeError& compared_error, double level) {
  Degrees degrees;
  degrees.Add(baseline_error.error * baseline_error.error, baseline_error.degrees);
  degrees.Add(compared_error.error * compared_error.error, compared_error.degrees);
  return IntervalOf(std::log(compared / baseline), std::hypot(baseline_error.error, compared_error.error),
                    degrees.value(), level);
}

RatioInterval GeometricMean(std::span<const RatioInterval> ratios, double level) {
  Degrees degrees;
  double log_sum = 0, variance = 0;
  for (const RatioInterval& ratio : ratios) {
    log_sum += std::log(ratio.ratio);
    variance += ratio.log_error * ratio.log_error;
    degrees.Add(ratio.log_error * ratio.log_error, ratio.degrees);
  }
  const double n = static_cast<double>(ratios.size());
  return IntervalOf(log_sum / n, std::sqrt(variance) / n, degrees.value(), level);
}

double TailBelow(const RatioInterval& ratio, double limit) {
  const double off = std::log(limit) - std::log(ratio.ratio);
  if (ratio.log_error == 0) return off > 0 ? 0 : 1;
  return StudentTail(off / ratio.log_error, ratio.degrees);
}

std::vector<double> HolmAdjusted(std::span<const double> p_values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size(), std::numeric_limits<double>::quiet_NaN());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, p_values[order[rank]] * static_cast<double>(order.size() - rank));
    adjusted[order[rank]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace iobench

#include "coordinator/analysis/compare/figure_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coordinator/analysis/statistics/dependence.h"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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

}  // namespace

RelativeError ErrorOfMean(std::span<const double> values) {
  const MeanError error = values.size() < kMinSeries ? ErrorOfFew(values) : *ErrorOfLong(values);
  return {.error = error.error / MeanOf(values), .degrees = error.degrees};
}

std::optional<RelativeError> ErrorOfSeries(std::span<const double> slices) {
  const std::optional<MeanError> error = ErrorOfLong(slices);
  if (!error.has_value()) return std::nullopt;
  const double mean = MeanOf(slices);
  if (!(mean > 0)) return std::nullopt;
  return RelativeError{.error = error->error / mean, .degrees = error->degrees};
}

std::optional<RelativeError> ErrorOfPercentile(const LatencyOverTime& slices, double percentile) {
  const size_t n = slices.counts.size(), bins = slices.bin_upper_us.size();
  if (n < kMinSeries || bins == 0) return std::nullopt;
  std::vector<double> all(bins);
  for (const auto& slice : slices.counts) {
    for (size_t bin = 0; bin < bins; ++bin) all[bin] += slice[bin];
  }
  const double ops = std::accumulate(all.begin(), all.end(), 0.0);
  const double percentile_us = PercentileOf(all, slices, percentile);
  if (!(ops > 0) || !(percentile_us > 0)) return std::nullopt;
  // Ops beyond the percentile in each slice, more than its share of them: their clusters decide the error.
  std::vector<double> beyond(n);
  for (size_t i = 0; i < n; ++i) {
    double slice_ops = 0;
    for (size_t bin = 0; bin < bins; ++bin) {
      const double count = slices.counts[i][bin];
      const double lower_us = bin == 0 ? slices.lowest_us : slices.bin_upper_us[bin - 1];
      const double upper_us = slices.bin_upper_us[bin];
      slice_ops += count;
      beyond[i] += count * std::clamp((upper_us - percentile_us) / (upper_us - lower_us), 0.0, 1.0);
    }
    beyond[i] -= (1 - percentile) * slice_ops;
  }
  const std::optional<MeanError> error = ErrorOfLong(beyond);
  const double share = error->error * static_cast<double>(n) / ops;
  const double low_us = PercentileOf(all, slices, std::max(percentile - share, 0.0));
  const double high_us = PercentileOf(all, slices, std::min(percentile + share, 1.0));
  return RelativeError{.error = (high_us - low_us) / 2 / percentile_us, .degrees = error->degrees};
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

double TailAbove(const RatioInterval& ratio, double limit) {
  return 1 - TailBelow(ratio, limit);
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

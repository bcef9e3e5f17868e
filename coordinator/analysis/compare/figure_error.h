// How far a figure may be off by chance: from its repetitions, or from the time slices of one phase. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_FIGURE_ERROR_H_
#define COORDINATOR_ANALYSIS_COMPARE_FIGURE_ERROR_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace iobench {

// docs/comparing.md, "Comparing runs", defines the methods and names their sources.

// The relative standard error of a figure, and the degrees of freedom of that error: how well it is known.
struct RelativeError {
  double error = 0;
  double degrees = 0;
};

// The error of the mean of repetitions, in the order of time. REQUIRES: at least two; positive mean.
RelativeError ErrorOfMean(std::span<const double> values);

// The error of the mean of successive slices, which depend on each other. nullopt: there are fewer than kMinSeries
// (statistics/dependence.h), or nothing was moved.
std::optional<RelativeError> ErrorOfSeries(std::span<const double> slices);

// Latency over time: counts of ops by slice and bin.
struct LatencyOverTime {
  std::span<const double> bin_upper_us;         // ascending
  double lowest_us = 0;                         // lower edge of the first bin
  std::vector<std::span<const double>> counts;  // of each slice, by bin
};

// The error of a percentile (0.99) of the latency of all slices together: that of the share of ops beyond it, turned into
// latency by the counts around it (Woodruff). nullopt: as above.
std::optional<RelativeError> ErrorOfPercentile(const LatencyOverTime& slices, double percentile);

// compared / baseline. The interval holds the true ratio with probability `level` (0.95).
struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
  double p = 1;          // two-sided, of no difference
  double log_error = 0;  // standard error of ln(ratio)
  double degrees = 0;
};
// REQUIRES: both figures are positive.
RatioInterval RatioOf(double baseline, const RelativeError& baseline_error, double compared,
                      const RelativeError& compared_error, double level);

// The geometric mean of independent ratios, with its interval. REQUIRES: at least one.
RatioInterval GeometricMean(std::span<const RatioInterval> ratios, double level);

// The probability of a ratio as low (as high) as this one if the true one were `limit`.
double TailBelow(const RatioInterval& ratio, double limit);
double TailAbove(const RatioInterval& ratio, double limit);

// Corrects the p-values of a family of tests (Holm): each result can be compared with the level by itself. NaN (no
// test) stays NaN.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_FIGURE_ERROR_H_

// The error of a mean over time, when successive values depend on each other and drift. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_DEPENDENCE_H_
#define COORDINATOR_ANALYSIS_STATISTICS_DEPENDENCE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace iobench {

// docs/comparing.md, "Comparing runs", defines the methods and names their sources.

// The standard error of a mean, and the degrees of freedom of that error: how well it is known.
struct MeanError {
  double error = 0;
  double degrees = 0;
};

// A series shorter than this does not show how much its values depend on each other.
inline constexpr size_t kMinSeries = 20;

// What the correlation of successive values is taken to be where a series is too short to show it.
inline constexpr double kAssumedCorrelation = 0.6;
inline constexpr double kMaxCorrelation = 0.95;

// The error of the mean of a few values in the order of time, such as repetitions: their scatter, and in quadrature the
// drift over their time. REQUIRES: at least two values.
MeanError ErrorOfFew(std::span<const double> values);

// The error of the mean of a series at even times: from its slow changes, which are what the mean suffers from, and in
// quadrature its drift. nullopt: it is shorter than kMinSeries.
std::optional<MeanError> ErrorOfLong(std::span<const double> values);

// The same for what is said of the time of the series alone, and not of what comes before or after: without the drift.
std::optional<MeanError> ErrorWithin(std::span<const double> values);

// The correlation of successive values for a test that must not mistake dependence for change: at least
// kAssumedCorrelation for fewer than `enough` values, otherwise the estimate and its standard error above it.
// `residuals`: what is left after two terms, such as a line, have been fitted. REQUIRES: at least three.
double CautiousCorrelation(std::span<const double> residuals, size_t enough);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_DEPENDENCE_H_

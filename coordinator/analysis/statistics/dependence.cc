#include "coordinator/analysis/statistics/dependence.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace iobench {
namespace {

// Of a drift by D over the whole series, its mean may be off by D / sqrt(2): a slow wave that is four times as long as
// the series is then still no difference in 93 % of comparisons.
constexpr double kDriftShare = 0.5;
// The slowest waves that are looked at: 0.3 n^(2/3) keeps the error's bias small (Lazarus and others use 0.4).
constexpr double kWaves = 0.3;
constexpr size_t kMinWaves = 3;
constexpr double kMaxForWaves = 0.97;
constexpr double kMinGain = 0.2;  // bounds how much a wave is scaled up

double MeanOfValues(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The correlation of successive values around their mean, which the caller has taken away or not.
double RawCorrelation(std::span<const double> values) {
  const double mean = MeanOfValues(values);
  double variance = 0, covariance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - mean) * (values[i] - mean);
    if (i > 0) covariance += (values[i] - mean) * (values[i - 1] - mean);
  }
  return variance > 0 ? covariance / variance : 0;
}

// Rise of the least-squares line over the whole series.
double DriftOf(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double middle = (n - 1) / 2;
  double product = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double t = static_cast<double>(i) - middle;
    product += t * values[i];
    squares += t * t;
  }
  return product / squares * n;
}

double WithDrift(double variance, std::span<const double> values) {
  const double drift = DriftOf(values);
  return std::sqrt(variance + kDriftShare * drift * drift);
}

}  // namespace

MeanError ErrorOfFew(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = MeanOfValues(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.error = WithDrift(squares / (n - 1) / n, values), .degrees = n - 1};
}

std::optional<MeanError> ErrorWithin(std::span<const double> values) {
  if (values.size() < kMinSeries) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const auto waves = std::max(kMinWaves, static_cast<size_t>(kWaves * std::cbrt(n * n)));
  // The estimate of a short series is too low by about (1 + 3r) / n (Kendall 1954).
  const double raw = RawCorrelation(values);
  const double r = std::clamp(raw + (1 + 3 * raw) / n, 0.0, kMaxForWaves);
  double density = 0;
  for (size_t j = 1; j <= waves; ++j) {
    const double frequency = std::numbers::pi * static_cast<double>(j) / n;
    double wave = 0;
    for (size_t i = 0; i < values.size(); ++i) wave += std::cos(frequency * (static_cast<double>(i) + 0.5)) * values[i];
    // At this frequency a series of first order has less power than at 0, by this factor.
    const double gain = (1 - r) * (1 - r) / (1 - 2 * r * std::cos(frequency) + r * r);
    density += 2 / n * wave * wave / std::max(gain, kMinGain) / static_cast<double>(waves);
  }
  return MeanError{.error = std::sqrt(density / n), .degrees = static_cast<double>(waves)};
}

std::optional<MeanError> ErrorOfLong(std::span<const double> values) {
  std::optional<MeanError> error = ErrorWithin(values);
  if (error.has_value()) error->error = WithDrift(error->error * error->error, values);
  return error;
}

double CautiousCorrelation(std::span<const double> residuals, size_t enough) {
  const double n = static_cast<double>(residuals.size());
  const double raw = RawCorrelation(residuals);
  const double estimate = raw + (2 + 4 * raw) / n;  // two terms were fitted, so it is too low by twice as much
  const double cautious =
      residuals.size() < enough ? std::max(kAssumedCorrelation, estimate) : estimate + 1 / std::sqrt(n);
  return std::clamp(cautious, 0.0, kMaxCorrelation);
}

}  // namespace iobench

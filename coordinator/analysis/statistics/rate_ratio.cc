#include "coordinator/analysis/statistics/rate_ratio.h"

#include <algorithm>
#include <cmath>

#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

constexpr double kTailOfInterval = 0.025;

struct LogMoments {
  double mean = 0;
  double error_squared = 0;  // variance of the mean
  double degrees = 0;
};

LogMoments MomentsOfLogs(std::span<const double> rates) {
  const double count = static_cast<double>(rates.size());
  LogMoments moments{.degrees = count - 1};
  for (const double rate : rates) moments.mean += std::log(rate) / count;
  for (const double rate : rates)
    moments.error_squared += std::pow(std::log(rate) - moments.mean, 2) / (count - 1) / count;
  return moments;
}

}  // namespace

std::optional<RateRatio> RatioOfRates(std::span<const double> rates, std::span<const double> baseline) {
  const auto is_positive = [](double rate) { return std::isfinite(rate) && rate > 0; };
  for (const std::span<const double> series : {rates, baseline}) {
    if (series.size() < 2 || !std::all_of(series.begin(), series.end(), is_positive)) return std::nullopt;
  }
  const LogMoments a = MomentsOfLogs(rates), b = MomentsOfLogs(baseline);
  const double difference = a.mean - b.mean;
  const double variance = a.error_squared + b.error_squared;
  double width = 0;
  if (variance > 0) {
    const double degrees = variance * variance / (std::pow(a.error_squared, 2) / a.degrees +
                                                  std::pow(b.error_squared, 2) / b.degrees);
    width = StudentQuantile(kTailOfInterval, degrees) * std::sqrt(variance);
  }
  return RateRatio{std::exp(difference), std::exp(difference - width), std::exp(difference + width)};
}

}  // namespace iobench

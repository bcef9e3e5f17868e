// How two series of rates differ, with an interval. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_RATE_RATIO_H_
#define COORDINATOR_ANALYSIS_STATISTICS_RATE_RATIO_H_

#include <optional>
#include <span>

namespace iobench {

struct RateRatio {
  double ratio = 0;  // of the geometric means
  double low = 0;    // 95 % interval: Student's t on logarithms, with Welch's degrees of freedom
  double high = 0;
};

// Of `rates` to `baseline`. nullopt: one of them has fewer than two rates, or one that is not positive.
std::optional<RateRatio> RatioOfRates(std::span<const double> rates, std::span<const double> baseline);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_RATE_RATIO_H_

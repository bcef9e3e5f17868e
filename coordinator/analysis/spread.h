// How evenly lanes (or clients) went.
#ifndef COORDINATOR_ANALYSIS_SPREAD_H_
#define COORDINATOR_ANALYSIS_SPREAD_H_

#include <cstddef>
#include <span>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kStragglerShare = 0.8;  // of the median; slower ones are stragglers

// Mean, min, max, coefficient of variation (population) and Jain's index (sum x)^2 / (n * sum x^2). NaN where there is
// no rate; CoV and Jain also where all are 0.
v1::Spread SpreadOf(std::span<const double> rates);

// NaN for none; the mean of the middle two for an even number.
double MedianOf(std::span<const double> values);

// Positions of the rates more than 20 % under the median, slowest first.
struct Straggler {
  size_t index = 0;
  double under_median = 0;  // 0.31: 31 % under it
};
std::vector<Straggler> StragglersOf(std::span<const double> rates);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SPREAD_H_

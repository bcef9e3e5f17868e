// How evenly the lanes or clients of a phase ran.
#ifndef COORDINATOR_ANALYSIS_PHASE_SPREAD_H_
#define COORDINATOR_ANALYSIS_PHASE_SPREAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kStragglerShare = 0.8;  // of the median; slower lanes are stragglers

// Returns mean, min, max, coefficient of variation (population) and Jain's index (sum x)^2 / (n * sum x^2), which is 1
// if all rates are equal and 1/n if one lane has all of it. All are NaN if there are no rates or one of them is NaN;
// CoV and Jain's index also if all rates are 0.
v1::Spread SpreadOf(std::span<const double> rates);

// Returns the rates that are more than 20 % below the median, slowest first. A rate of NaN is no straggler.
struct Straggler {
  size_t index = 0;         // into `rates`
  double under_median = 0;  // 0.31: 31 % below it
};
std::vector<Straggler> StragglersOf(std::span<const double> rates);

// Returns the mean of `count` + 1 values, of which `mean` is that of the first `count`, and `value` the last.
inline double MeanWith(double mean, uint32_t count, double value) {
  return count == 0 ? value : (mean * count + value) / (count + 1);
}

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_SPREAD_H_

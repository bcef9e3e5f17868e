// The median of a series of numbers.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_MEDIAN_H_
#define COORDINATOR_ANALYSIS_STATISTICS_MEDIAN_H_

#include <span>

namespace iobench {

// Ignores values that are NaN. NaN if there are no others; the mean of the two middle values for an even number.
double MedianOf(std::span<const double> values);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_MEDIAN_H_

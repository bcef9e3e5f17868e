// Trends and changes in a series of figures over time, whose successive values may depend on each other. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_TREND_H_
#define COORDINATOR_ANALYSIS_STATISTICS_TREND_H_

#include <cstddef>
#include <span>
#include <vector>

namespace iobench {

// docs/comparing.md, "History", defines the methods and names their sources.

// The median of the slopes between all pairs of points (Theil, Sen); NaN without two different times. REQUIRES: equally
// many times and values.
double TheilSenSlope(std::span<const double> times, std::span<const double> values);

inline constexpr size_t kMinForTrend = 6;    // five in perfect order have p = 6 % if they depend on each other
inline constexpr size_t kMinForChanges = 8;  // two levels of four
inline constexpr size_t kMinSegment = 3;     // values on either side of a change

struct SeriesTrend {
  double slope = 0;  // Theil and Sen
  double low = 0;    // its interval (Sen); NaN: the series is too short for one
  double high = 0;
  double kendall_s = 0;    // pairs in ascending order less pairs in descending order
  double p = 1;            // two-sided, of no monotonic trend (Mann, Kendall)
  double correlation = 0;  // of successive values, as interval and p take it
};
// The trend of a series in the order of time, with an interval of the given level (0.95). The distribution of S is that
// of series without a trend whose values depend on each other (noise.h), the same draws each time. More than 32 values
// are first replaced by the medians of groups of neighbours. REQUIRES: at least kMinForTrend values, as many times.
SeriesTrend TrendOf(std::span<const double> times, std::span<const double> values, double level);

struct Change {
  size_t first = 0;  // index of the first value of the new level
  double p = 1;
};
// The points at which the level of a series changes: the split with the largest difference of means relative to the
// scatter, if that is significant at `alpha` among series without a change whose values depend on each other, and if two
// levels (or three, with two such splits) describe the series better than a smooth drift does; then the same in the parts. Ascending. The draws are the
// same each time.
std::vector<Change> ChangePoints(std::span<const double> values, double alpha);

double MedianOfSeries(std::span<const double> values);  // NaN if empty

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_TREND_H_

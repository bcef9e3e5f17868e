// Trends and changes in a series of figures over days. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_TREND_H_
#define COORDINATOR_ANALYSIS_STATISTICS_TREND_H_

#include <cstddef>
#include <span>
#include <vector>

namespace iobench {

// docs/measurement.md, "History", defines the methods and names their sources.

// The median of the slopes between all pairs of points (Theil, Sen); NaN without two different times. REQUIRES: equally
// many times and values.
double TheilSenSlope(std::span<const double> times, std::span<const double> values);

struct SlopeInterval {
  double slope = 0;
  double low = 0;
  double high = 0;
};
// The same slope with its 95 % confidence interval by the variance of Kendall's S (Sen), which holds from about
// kMinForInterval values on; NaN without two different times or with fewer than three slopes. REQUIRES: as above.
inline constexpr size_t kMinForInterval = 10;
SlopeInterval TheilSenInterval(std::span<const double> times, std::span<const double> values);

struct KendallTest {
  double s = 0;  // pairs in ascending order less pairs in descending order
  double p = 1;  // two-sided, of no monotonic trend
};
// The Mann-Kendall test of a series in the order of time. p is exact for up to 40 values without ties, otherwise from
// the normal approximation with correction for ties and continuity.
KendallTest MannKendall(std::span<const double> values);

inline constexpr size_t kMinForTrend = 5;    // four in perfect order have p = 8 %
inline constexpr size_t kMinForChanges = 8;  // two levels of four have p = 2.9 %, of three 10 %
inline constexpr size_t kMinSegment = 3;     // values on either side of a change

struct Change {
  size_t first = 0;  // index of the first value of the new level
  double p = 1;
};
// The points at which the level of a series changes: the split with the largest rank sum statistic, if a permutation
// test finds it significant at `alpha`, then the same in both parts. Ascending. The permutations are the same each
// time.
std::vector<Change> ChangePoints(std::span<const double> values, double alpha);

double MedianOfSeries(std::span<const double> values);  // NaN if empty

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_TREND_H_

// What the lanes did over the time of a phase: rates in slices, times without any progress, first ops. Pure.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct OverTime {
  // Of all lanes together, in equal slices, in the unit of the headline. Empty: as below.
  std::vector<double> rates;
  // The mean rate of a client's lanes in equal slices, in the unit of the headline, in the order of PhaseReport.clients.
  // The slices divide the time from the end of the warm-up to the end of the first lane, in which all lanes had work.
  // Empty: that time is too short, or too few ops ended in it.
  std::vector<std::vector<double>> lane_rates;
  CoordTime begin = {};  // of that time
  double begin_s = 0;    // the same, from the first op of all
  double seconds = 0;    // of that time
  // The time in which every lane with work stood still by the rule of marks/stalls.h, and its share of the phase.
  double stalled_s = 0;
  double stalled_share = 0;
  // The shortest time that a lane took for its first op, in the warm-up, too. NaN: no timeline shows a single op.
  double first_op_us = std::numeric_limits<double>::quiet_NaN();

  double slice_s() const { return seconds / static_cast<double>(rates.size()); }  // REQUIRES: there are rates
};

// A lane's part in the rates of a group of lanes.
struct GroupShare {
  size_t group = 0;
  double weight = 1;  // of its rate
};
// Sums of the lanes' rates in equal slices, by group, in the unit of the headline; the slices are those of
// OverTime::lane_rates.
struct GroupRates {
  CoordTime begin = {};                    // of the time that the slices divide; 0 s: there is none
  double seconds = 0;                      // of that time
  std::vector<std::vector<double>> rates;  // empty: that time is too short
};
// `shares`: of each lane, in the order of AlignedPhase::lanes; all groups are below `group_count`.
GroupRates GroupRatesOf(const PhaseView& view, size_t group_count, std::span<const std::vector<GroupShare>> shares);

// Whether a series of rates is below `share` of an expected one all the time, and not by chance; `judged_count` series are
// judged in this way. A time in which nearly nothing was expected says nothing against it. REQUIRES: of equal length, kMinSeries
// values or more.
bool IsBelowThroughout(std::span<const double> rates, std::span<const double> expected, double share, size_t judged_count);

// The same for one of several series, of which the mean of the others is expected.
bool IsSlowThroughout(const std::vector<std::vector<double>>& rates, size_t slow, double share);

// REQUIRES: report.clients is filled.
OverTime OverTimeOf(const PhaseView& view, const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_

// What the lanes did over the time of a phase: rates in slices, times without any progress, first ops. Pure.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_

#include <limits>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct OverTime {
  // The mean rate of a client's lanes in equal slices, in the unit of the headline, in the order of PhaseReport.clients.
  // The slices divide the time from the end of the warm-up to the end of the first lane, in which all lanes had work.
  // Empty: that time is too short, or too few ops ended in it.
  std::vector<std::vector<double>> lane_rates;
  double seconds = 0;  // of that time
  // The time in which every lane with work stood still by the rule of marks/stalls.h, and its share of the phase.
  double stalled_s = 0;
  double stalled_share = 0;
  // The shortest time that a lane took for its first op, in the warm-up, too. NaN: no timeline shows a single op.
  double first_op_us = std::numeric_limits<double>::quiet_NaN();
};

// REQUIRES: report.clients is filled.
OverTime OverTimeOf(const PhaseView& view, const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_OVER_TIME_H_

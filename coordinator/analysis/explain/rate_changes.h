// When the throughput of a phase changed its level and stayed changed, and what the levels are like. Pure.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_RATE_CHANGES_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_RATE_CHANGES_H_

#include <vector>

#include "coordinator/analysis/explain/explain.h"
#include "coordinator/analysis/explain/over_time.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.changes: of all lanes together, in the time in which all had work, after the warm-up. A cause is set only
// where the lanes' passes over their data are the cause; FillLimits sets the others. None if the plan itself changes the
// load over time. REQUIRES: report.bytes and report.ops are set.
void FillRateChanges(const PhaseView& view, const OverTime& over_time, v1::PhaseReport& report);

// What lies before, between and after the changes of the report, one more than there are changes.
std::vector<RateLevel> RateLevelsOf(const OverTime& over_time, const v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_RATE_CHANGES_H_

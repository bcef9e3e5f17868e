// The findings of a run that repeats its phases in rounds for a given time (--soak). Pure.
#ifndef COORDINATOR_ANALYSIS_SOAK_H_
#define COORDINATOR_ANALYSIS_SOAK_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.soak if the plan is a soak, with no rounds yet and trends without figures. REQUIRES: report.run() has the
// plan.
void BeginSoak(v1::RunReport& report);

// Adds the figures of a phase, which must not be a brief. Nothing without a soak. Call it in the order of the phases.
void UpdateSoak(const v1::PhaseReport& phase, v1::RunReport& report);

// Computes the trends over the rounds so far. Nothing without a soak.
void UpdateSoakTrends(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SOAK_H_

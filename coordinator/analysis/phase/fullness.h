// How full the file systems of a phase were when it began.
#ifndef COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_
#define COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.fullness from what statfs returned to the workers: one entry, in the plan's order, for each target whose
// space any worker knows. docs/definitions.md, "Fullness".
void FillFullness(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_

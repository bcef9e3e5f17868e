// How full the file systems of a phase were when it began.
#ifndef COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_
#define COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.fullness from what statfs told the workers: one entry for each target, in the plan's order, of which any
// worker knows the space. docs/measurement.md, "Fullness".
void FillFullness(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_FULLNESS_H_

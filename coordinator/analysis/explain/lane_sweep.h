// Whether more lanes helped, from phases that differ only in their number. Pure.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_LANE_SWEEP_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_LANE_SWEEP_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Compares a phase with that of the same work and most, but fewer, lanes among the earlier ones of the run, and corrects
// its limits. Nothing else says as surely whether more lanes help:
//   - the rate stayed below half of what they would add if each were as fast as before: `lanes` is no limit;
//   - they were as fast as before, to a tenth: it is one, with this evidence. A full resource, of strength 0.7 or more, stays first.
// Nothing changes without such a phase, if one of the two is not whole or shorter than a second, or if what was measured
// is the clients' memory. `earlier` may hold briefs (coordinator/analysis/brief.h), and not the phase itself.
void ApplyLaneSweep(const v1::RunReport& earlier, v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_LANE_SWEEP_H_

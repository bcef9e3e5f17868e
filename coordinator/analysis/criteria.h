// Whether a run met its criteria (--require). Pure.
#ifndef COORDINATOR_ANALYSIS_CRITERIA_H_
#define COORDINATOR_ANALYSIS_CRITERIA_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Replaces report.criteria by a verdict on each criterion of the plan. Phases may be briefs (brief.h). Every phase that
// the criterion applies to must meet it, in every repetition; the worst one decides. If all phases that can be judged
// meet it, a phase that did not run, was interrupted, did not measure the figure, or has a mark saying that its figure
// may not describe the storage or the whole run (docs/marks.md) leaves it undecided, which counts as not met. So
// is a criterion that applies to no phase; the plan check refuses those.
void UpdateCriteria(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CRITERIA_H_

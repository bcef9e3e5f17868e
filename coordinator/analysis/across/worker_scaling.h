// How rates scale with the number of workers, for sweeps over it. Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_WORKER_SCALING_H_
#define COORDINATOR_ANALYSIS_ACROSS_WORKER_SCALING_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.worker_scaling to one entry for each phase that the plan has with several numbers of workers but otherwise
// equal, in the plan's order. Repetitions that are not whole are excluded. A point without any whole repetition has NaN
// figures; if it is the first one, scaling is unknown. The phases may be briefs (coordinator/analysis/brief.h).
void UpdateWorkerScaling(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_WORKER_SCALING_H_

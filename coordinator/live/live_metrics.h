// A running phase as OpenMetrics text. Pure.
#ifndef COORDINATOR_LIVE_LIVE_METRICS_H_
#define COORDINATOR_LIVE_LIVE_METRICS_H_

#include <string>

#include "coordinator/live/live_rates.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the whole text (coordinator/report/openmetrics has the format). The cluster's families begin with
// iobench_phase_, the clients' with iobench_client_, so that sums over a family count nothing twice. All samples have the
// labels of `run`. A rate that is unknown has no sample. `sample` without a phase: there are none but the run's.
std::string LiveMetrics(const v1::RunInfo& run, const LiveSample& sample);

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_METRICS_H_

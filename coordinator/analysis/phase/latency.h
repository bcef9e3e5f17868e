// Latencies for the report. Percentiles are computed from merged histograms, never from other percentiles.
#ifndef COORDINATOR_ANALYSIS_PHASE_LATENCY_H_
#define COORDINATOR_ANALYSIS_PHASE_LATENCY_H_

#include "absl/status/status.h"
#include "common/histogram.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns latencies in microseconds. If there are no ops, the count is 0 and everything else is NaN. A percentile with
// fewer than 100 ops beyond it is listed as unsure (Histogram::Trusted).
v1::Latency LatencyOf(const Histogram& histogram);

// Adds the histograms of all kinds of a lane. InvalidArgument: a histogram has another layout; the others are still
// added.
absl::Status AddLatencies(const v1::LaneResult& lane, Histogram& into);

// Returns the mean over all kinds of a lane, from exact sums instead of buckets; 0 if unknown.
double MeanOpSeconds(const v1::LaneResult& lane);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_LATENCY_H_

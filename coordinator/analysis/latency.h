// Latencies in the report's form. Percentiles come from merged histograms, never from other percentiles.
#ifndef COORDINATOR_ANALYSIS_LATENCY_H_
#define COORDINATOR_ANALYSIS_LATENCY_H_

#include "absl/status/status.h"
#include "common/histogram.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// In microseconds; NaN everywhere and count 0 where there is no op.
v1::Latency LatencyOf(const Histogram& histogram);

// Adds every kind of a lane. InvalidArgument: a histogram of another layout; the others are added all the same.
absl::Status AddLatencies(const v1::LaneResult& lane, Histogram& into);

// Over all of a lane's kinds; 0 where nothing is known.
double MeanOpSeconds(const v1::LaneResult& lane);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_LATENCY_H_

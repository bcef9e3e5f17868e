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

// The latency of an op is its response time where it has a rate, from when it was due to its end: an op that waits
// behind a late one is late too. Elsewhere it is the time that the op took. This is decided here alone. Formats,
// criteria and comparisons read `latency_us`, which is computed from these.
//
// Adds the latencies of all kinds of a lane. InvalidArgument: a histogram has another layout; the others are still
// added.
absl::Status AddLatencies(const v1::LaneResult& lane, Histogram& into);
// Adds those of one of its kinds. Nothing if it is not known: of several kinds, in the record of an earlier version.
absl::Status AddLatenciesOfKind(const v1::LaneResult& lane, const v1::KindResult& kind, Histogram& into);
// True if the lane's latencies over time (LaneResult.latency_slices) are its latencies: not in earlier records.
bool SlicesAreLatencies(const v1::LaneResult& lane);

// Adds the times that the ops of a lane took, whether or not they had a rate. Errors as in AddLatencies.
absl::Status AddServiceTimes(const v1::LaneResult& lane, Histogram& into);
// The service times in a report of a phase, which are its latencies if no op had a rate.
const v1::Latency& ServiceTimesIn(const v1::PhaseReport& report);

// Returns the mean service time over all kinds of a lane, from exact sums instead of buckets; 0 if unknown.
double MeanOpSeconds(const v1::LaneResult& lane);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_LATENCY_H_

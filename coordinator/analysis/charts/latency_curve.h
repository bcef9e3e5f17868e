// The latencies of a whole phase as a percentile curve and as a distribution.
#ifndef COORDINATOR_ANALYSIS_CHARTS_LATENCY_CURVE_H_
#define COORDINATOR_ANALYSIS_CHARTS_LATENCY_CURVE_H_

#include "common/histogram.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the percentiles 50, 75, 90, 95, 99, 99.5, 99.9 … 99.9999 that have at least one op beyond them, and 100 for the
// max. A percentile with fewer than 100 ops beyond it is unsure (Histogram::Trusted); the max is not. Nothing if the
// histogram is empty.
google::protobuf::RepeatedPtrField<v1::PercentilePoint> PercentileCurve(const Histogram& histogram);
// The same; nothing if it is damaged.
google::protobuf::RepeatedPtrField<v1::PercentilePoint> PercentileCurve(const v1::Histogram& histogram);

// Adds the ops in bins of an eighth of an octave, 16 buckets of the histogram each; below 128 ns, 16 ns each. Bins
// without ops are left out; ops above the histogram's range have a bin of their own, which ends with the max.
void FillDistribution(const Histogram& histogram, v1::PhaseCharts& charts);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CHARTS_LATENCY_CURVE_H_

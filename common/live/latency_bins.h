// Latencies of a running phase: counts in bins that are coarse enough to be sent with each answer to a poll. For live
// figures only; the report is computed from the histograms themselves.
#ifndef COMMON_LIVE_LATENCY_BINS_H_
#define COMMON_LIVE_LATENCY_BINS_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "common/histogram.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// The latencies of one or more lanes; 4.5 KB. A bin joins 8 buckets of Histogram, so that there are 16 per octave. A
// figure is the middle of a bin, at most 3.2 % off (below 128 ns: 4 ns). Ops beyond the histogram's range are not
// counted. Not thread-safe.
class LatencyBins {
 public:
  static constexpr uint32_t kBucketsPerBin = 8;
  static constexpr uint32_t kBinCount = Histogram::kBucketCount / kBucketsPerBin;  // 576

  // Adds the ops of a histogram to which another thread may be adding: each bucket is read once, at its own time, so an
  // op that ends meanwhile is counted now or later. Reads 37 KB.
  void AddFrom(const Histogram& histogram);
  void Merge(const LatencyBins& other);
  // Returns what was added since `before`. If the lanes restarted their counts in between, because the warm-up ended,
  // returns everything.
  LatencyBins Since(const LatencyBins& before) const;

  uint64_t count() const;
  // NaN without ops. `p` is in (0, 1]; 1 is the max.
  double MeanNs() const;
  double PercentileNs(double p) const;

  v1::LatencyBins ToProto() const;
  // Adds the counts of `message`. InvalidArgument: it is damaged or has another layout (a bin out of range or twice,
  // not as many gaps as counts, more than 2^50 ops); nothing is then added.
  absl::Status AddProto(const v1::LatencyBins& message);

 private:
  std::array<uint64_t, kBinCount> counts_{};
};

}  // namespace iobench

#endif  // COMMON_LIVE_LATENCY_BINS_H_

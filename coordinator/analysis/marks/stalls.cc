#include "coordinator/analysis/marks/stalls.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "common/histogram.h"
#include "common/time.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

constexpr double kTailFactor = 100;   // of p99.9
constexpr double kTail = 0.999;
constexpr double kPhaseShare = 0.1;
constexpr double kMedianOps = 4;

// Returns the percentile in seconds of the values below `below_s`; 0: there are none.
double PercentileBelow(const Histogram& latency, double percentile, double below_s) {
  const double limit_ns = below_s * 1e9;
  uint32_t end = Histogram::kBucketCount;
  if (limit_ns < static_cast<double>(uint64_t{1} << Histogram::kMaxBits))
    end = Histogram::IndexOf(static_cast<uint64_t>(limit_ns));
  uint64_t count = 0;
  for (uint32_t bucket = 0; bucket < end; ++bucket) count += latency.LiveCount(bucket);
  const auto rank = static_cast<uint64_t>(std::ceil(percentile * static_cast<double>(count)));
  uint64_t seen = 0;
  for (uint32_t bucket = 0; bucket < end && count > 0; ++bucket) {
    seen += latency.LiveCount(bucket);
    if (seen >= rank) return static_cast<double>(Histogram::UpperEdge(bucket)) / 1e9;
  }
  return 0;
}

// The times to judge: records of earlier versions have only the longest one.
std::vector<v1::Gap> GapsOf(const v1::LaneResult& lane) {
  if (lane.gaps_size() > 0) return {lane.gaps().begin(), lane.gaps().end()};
  v1::Gap longest;
  longest.set_begin_worker_ns(lane.stall_begin_worker_ns());
  longest.set_end_worker_ns(lane.stall_end_worker_ns());
  return {longest};
}

}  // namespace

double LaneStall::seconds() const {
  return SecondsFrom(end_worker_ns - begin_worker_ns);
}

std::vector<LaneStall> StallsOf(const v1::LaneResult& lane, double phase_s) {
  std::vector<LaneStall> stalls;
  std::unique_ptr<Histogram> latency;  // 37 KB, too large for the stack, and seldom needed
  for (const v1::Gap& gap : GapsOf(lane)) {
    LaneStall stall{gap.begin_worker_ns(), gap.end_worker_ns()};
    if (stall.seconds() <= kShortestStallSeconds) continue;
    if (latency == nullptr) {
      latency = std::make_unique<Histogram>();
      AddServiceTimes(lane, *latency).IgnoreError();
    }
    const double median_s = latency->count() > 0 ? latency->PercentileNs(0.5) / 1e9 : 0;
    double limit_s = std::max(kPhaseShare * phase_s, kMedianOps * median_s);
    if (!gap.flushed()) {
      const double others_s = PercentileBelow(*latency, kTail, stall.seconds() / 2);
      // Without any other op, nothing is usual.
      if (others_s > 0) limit_s = std::min(limit_s, kTailFactor * others_s);
    }
    stall.threshold_s = std::max(kShortestStallSeconds, limit_s);
    if (stall.seconds() > stall.threshold_s) stalls.push_back(stall);
  }
  return stalls;
}

}  // namespace iobench

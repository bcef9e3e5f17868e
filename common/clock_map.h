// One worker's clock against the coordinator's: an interval at every instant, so that asymmetric paths are covered.
// Arithmetic: docs/measurement.md, "Clock". With theta = W - C, every exchange (c1 sent, w1 received, w2 replied,
// c2 returned) proves w2 - c2 <= theta <= w1 - c1, whatever the path. Pure values; no clock is read here.
#ifndef COMMON_CLOCK_MAP_H_
#define COMMON_CLOCK_MAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kMaxDriftPpm = 500.0;  // NTP may slew so much

// What one burst of pings proves: theta in [low_ns, high_ns] at the instant `at` (middle of the burst).
struct OffsetInterval {
  CoordTime at;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};

// L = max(w2 - c2), U = min(w1 - c1). Aborted when L > U: a clock stepped inside the burst, repeat it.
// InvalidArgument for an empty burst.
absl::StatusOr<OffsetInterval> IntervalOf(const v1::PingBurst& burst);

class ClockMap {
 public:
  // Worker and coordinator share the clock (same boot id, verified): theta = 0, error 0.
  static ClockMap Same() { return ClockMap(); }

  // From bursts in any order: before, (during,) after a phase. Between bursts the interval grows by kMaxDriftPpm
  // from both sides and is intersected.
  // Aborted: the intervals contradict each other by more than drift allows (the clocks stepped); the mark is
  // `clock_step`. InvalidArgument: no burst at all.
  static absl::StatusOr<ClockMap> Fit(std::span<const v1::PingBurst> bursts);

  CoordTime ToCoordinator(WorkerTime t) const;
  WorkerTime ToWorker(CoordTime t) const;
  double offset_ns(CoordTime at) const;  // estimate of theta: middle of the interval
  int64_t error_ns(CoordTime at) const;  // half width
  bool same() const { return intervals_.empty(); }

 private:
  ClockMap() = default;
  OffsetInterval At(CoordTime at) const;
  std::vector<OffsetInterval> intervals_;  // ascending by `at`
};

}  // namespace iobench

#endif  // COMMON_CLOCK_MAP_H_

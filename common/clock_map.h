// Maps one worker's clock to the coordinator's clock with error bounds. See docs/definitions.md, "Clock".
//
// Let theta = W - C (worker time minus coordinator time). Each ping exchange (c1 sent, w1 received, w2 replied, c2
// returned) proves w2 - c2 <= theta <= w1 - c1, however asymmetric the network path is. This file reads no clock.
#ifndef COMMON_CLOCK_MAP_H_
#define COMMON_CLOCK_MAP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/time.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kMaxDriftPpm = 500.0;  // the maximum rate at which NTP slews a clock

// The result of one ping burst: low_ns <= theta <= high_ns at the instant `at`, the middle of the burst.
struct OffsetInterval {
  CoordTime at;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};

// Computes low_ns = max(w2 - c2) and high_ns = min(w1 - c1) over the burst. Aborted: low_ns > high_ns, because a clock
// was stepped during the burst; the caller should repeat the burst. InvalidArgument: the burst is empty.
absl::StatusOr<OffsetInterval> IntervalOf(const v1::PingBurst& burst);

// Immutable once made, so any thread may use it. It is defined for every instant; the error grows by kMaxDriftPpm with
// the distance from the nearest burst.
class ClockMap {
 public:
  // For a worker that shares the coordinator's clock (same boot id, verified by pings): theta = 0, error 0.
  static ClockMap Same() { return ClockMap(); }

  // Builds a map from bursts in any order, taken before, during or after a phase. Between two bursts, each interval
  // widens by kMaxDriftPpm with distance, and the map uses the intersection. Aborted: the intervals contradict each
  // other by more than drift allows, so a clock was stepped (mark `clock_step`). InvalidArgument: there are no bursts.
  static absl::StatusOr<ClockMap> Fit(std::span<const v1::PingBurst> bursts);

  // Convert an instant with the estimate of theta at that instant; the result is wrong by at most error_ns().
  CoordTime ToCoordinator(WorkerTime t) const;
  WorkerTime ToWorker(CoordTime t) const;
  // Returns the estimate of theta: the middle of the interval.
  double offset_ns(CoordTime at) const;
  // Returns the bound of the error in either direction: half the width of the interval, rounded up.
  int64_t error_ns(CoordTime at) const;
  // True if the worker shares the coordinator's clock.
  bool same() const { return intervals_.empty(); }

 private:
  ClockMap() = default;
  OffsetInterval At(CoordTime at) const;
  std::vector<OffsetInterval> intervals_;  // ascending by `at`
};

}  // namespace iobench

#endif  // COMMON_CLOCK_MAP_H_

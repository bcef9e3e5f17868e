// Converts the results of all lanes to the coordinator's clock.
#ifndef COORDINATOR_ANALYSIS_PHASE_ALIGN_H_
#define COORDINATOR_ANALYSIS_PHASE_ALIGN_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/clock_map.h"
#include "common/time.h"
#include "common/timeline.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A worker with its clock. Borrows the phase's record and a map of AlignedPhase.
struct AlignedWorker {
  const v1::WorkerPhaseResult* result = nullptr;
  uint32_t number = 0;
  const ClockMap* clock = nullptr;  // null: lost, or its clock has no usable burst
  bool clock_stepped = false;       // its bursts contradict each other; `clock` uses the best one
  std::string missing_reason;       // if not empty, why nothing of this worker counts
};

// A lane whose result counts, on the common time axis. Its timeline stays in the record until TimelineOf decodes it, so
// that even with thousands of lanes only one decoded timeline is in memory.
struct AlignedLane {
  const v1::LaneResult* result = nullptr;
  uint32_t worker = 0;
  const ClockMap* clock = nullptr;
  bool started = false;               // false: stopped before its first op; the times below are undefined
  CoordTime first_op;                 // s_i
  CoordTime ops_end;                  // end of the last op before a stop, or of the last op
  CoordTime region_end;               // end of the timed region: t_i or u_i
  std::optional<CoordTime> deadline;  // when its deadline was reached
  std::optional<CoordTime> first_pass_end;  // of its first pass, if another one began

  // Returns the error of the lane's clock at an instant, as the half width of its interval.
  int64_t error_ns(CoordTime at) const { return clock->error_ns(at); }
};

// The parts of a phase that have times on the common axis. `lanes` contains only lanes that count: not lost, failed or
// sat out. Borrows the record that it was created from.
struct AlignedPhase {
  std::vector<AlignedWorker> workers;  // in the record's order
  std::vector<AlignedLane> lanes;      // in the record's order
  std::deque<ClockMap> clocks;         // workers of one client share one; addresses are stable
};

// Aligns a phase. Workers without bursts share the coordinator's clock. Bursts that are inconsistent in themselves are
// ignored; if the others contradict each other (a clock was stepped), only the one with the narrowest interval is used.
// Workers with a number >= `worker_count` do not belong to the run and are skipped.
AlignedPhase Align(const v1::PhaseRecord& phase, uint32_t worker_count);

// The map that Align builds from one worker's bursts. FitClock returns Aborted if no burst is consistent in itself. A
// worker without bursts gets ClockMap::Same().
struct FittedClock {
  ClockMap map;
  bool stepped = false;  // the bursts contradict each other, and `map` uses the best one alone
};
absl::StatusOr<FittedClock> FitClock(const v1::WorkerPhaseResult& worker);

// True if a lane's result counts: it neither failed nor sat out. Its worker may still be lost.
bool TookPart(const v1::LaneResult& lane);

// Writes the lane's progress on the common axis to `points`, in ascending order; `points` keeps its capacity from lane
// to lane. It starts with zero at the first op and ends with the timed region's totals, even if the record's timeline
// lacks these points.
void TimelineOf(const AlignedLane& lane, std::vector<AlignedPoint>& points);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_ALIGN_H_

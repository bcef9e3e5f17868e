// Puts what every lane reported on the coordinator's clock.
#ifndef COORDINATOR_ANALYSIS_ALIGN_H_
#define COORDINATOR_ANALYSIS_ALIGN_H_

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
  const ClockMap* clock = nullptr;  // null: lost, or no burst of its clock can be used
  bool clock_stepped = false;       // its bursts contradict each other; clock is from the best one
  std::string missing_reason;       // not empty: nothing of this worker is counted, and why
};

// A lane whose result counts, on the common axis. Its timeline stays in the record until TimelineOf decodes it: with
// thousands of lanes only one is held aligned at a time.
struct AlignedLane {
  const v1::LaneResult* result = nullptr;
  uint32_t worker = 0;
  const ClockMap* clock = nullptr;
  bool started = false;               // false: told to stop before its first op; the times below mean nothing
  CoordTime first_op;                 // s_i
  CoordTime ops_end;                  // end of the last op before a stop, or of all
  CoordTime region_end;               // t_i or u_i: end of the timed region
  std::optional<CoordTime> deadline;  // when its deadline came

  // Half width of what is known about the lane's clock against the common axis at an instant.
  int64_t error_ns(CoordTime at) const { return clock->error_ns(at); }
};

// Everything of a phase that has a place on the common axis. `lanes` holds those that count: not lost, not failed, not
// sat out. Borrows the record that it was made from.
struct AlignedPhase {
  std::vector<AlignedWorker> workers;  // as in the record
  std::vector<AlignedLane> lanes;      // in the record's order
  std::deque<ClockMap> clocks;         // workers of one client share one; addresses are stable
};

// Workers without bursts share the coordinator's clock. Bursts that contradict themselves are left out; where the rest
// contradict each other (a clock was stepped), the one with the narrowest interval is used alone. Workers whose number
// is not under `worker_count` do not belong to the run and are left out.
AlignedPhase Align(const v1::PhaseRecord& phase, uint32_t worker_count);

// The map that Align makes of one worker's bursts. Aborted: no burst is sound in itself.
struct FittedClock {
  ClockMap map;
  bool stepped = false;
};
absl::StatusOr<FittedClock> FitClock(const v1::WorkerPhaseResult& worker);

// Whether a lane's result counts.
bool TookPart(const v1::LaneResult& lane);

// The lane's progress on the common axis, ascending, into `points` (which keeps its capacity from lane to lane). Begins
// with nothing done at the first op and ends with the timed region's totals, whatever the record's timeline lacks.
void TimelineOf(const AlignedLane& lane, std::vector<AlignedPoint>& points);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ALIGN_H_

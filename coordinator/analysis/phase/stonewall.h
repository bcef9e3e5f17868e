// The rules of the stonewall: which lane's end of ops it is, and whether the other lanes are then told to stop.
// Analysis applies them to the results (StonewallWindow in window.h computes the instant); the conductor applies them
// during the phase, also to ask for timelines that are exact at the stonewall (coordinator/conduct/running_lanes.h).
#ifndef COORDINATOR_ANALYSIS_PHASE_STONEWALL_H_
#define COORDINATOR_ANALYSIS_PHASE_STONEWALL_H_

#include "common/time.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// How a lane's ops ended. Times of several lanes compare only on the coordinator's clock.
struct LaneEnd {
  CoordTime ops_end;     // end of the last op
  bool stopped = false;  // by the coordinator; false: the lane ended by itself
  bool has_ops = false;  // it completed at least one op
};

// True if `a` is the stonewall rather than `b`: a lane that ended by itself comes before all that were stopped, and the
// earlier end before the later one. Lanes without ops come last. docs/definitions.md, "Windows and throughput".
inline bool IsStonewallBefore(const LaneEnd& a, const LaneEnd& b) {
  if (a.has_ops != b.has_ops) return a.has_ops;
  if (a.stopped != b.stopped) return b.stopped;
  return a.ops_end < b.ops_end;
}

// True if the coordinator tells the other lanes to stop as soon as one has ended its ops; with the other kinds of
// stonewall the totals at that instant are read from the timelines afterwards.
inline bool StopsLanes(v1::Stonewall stonewall) {
  return stonewall == v1::STONEWALL_FLUSHED || stonewall == v1::STONEWALL_STOP;
}

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_STONEWALL_H_

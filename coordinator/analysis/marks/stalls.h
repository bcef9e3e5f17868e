// The rule for stalls: which times without the end of an op are too long to be usual. Pure.
#ifndef COORDINATOR_ANALYSIS_MARKS_STALLS_H_
#define COORDINATOR_ANALYSIS_MARKS_STALLS_H_

#include <cstdint>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr double kShortestStallSeconds = 1.0;
// Of what the coordinator sees by its polls, once a second (coordinator/cluster/stall_watch.h).
inline constexpr double kShortestStillSeconds = 3.0;

// A time in which no op of a lane ended, on the worker's clock.
struct LaneStall {
  int64_t begin_worker_ns = 0;
  int64_t end_worker_ns = 0;
  double threshold_s = 0;  // that it exceeds
  double seconds() const;
};

// Returns the stalls of a lane's ops, in the order of time. A stall is longer than one second and than
//   - 100 times the p99.9 of the lane's other ops, or 10 % of the phase and 4 times the median of its ops, whichever is
//     less: a long op is no stall if ops usually take that long;
//   - only the latter if files were flushed in it, because that time depends on how much there is to flush.
// An op that lasted half as long as the stall or more waited, too, and is not among the others.
std::vector<LaneStall> StallsOf(const v1::LaneResult& lane, double phase_s);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_STALLS_H_

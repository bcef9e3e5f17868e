// How rates grow with the workers, in a sweep over their number.
#ifndef COORDINATOR_REPORT_WORKER_SCALING_H_
#define COORDINATOR_REPORT_WORKER_SCALING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

uint32_t WorkerCount(const v1::PhaseReport& phase);  // that took part, lost ones too

struct ScalingPoint {
  uint32_t worker_count = 0, client_count = 0, lane_count = 0;
  double rate = 0;  // the headline, ops/s of names and else bytes/s; the median of whole repetitions
  double rate_per_client = 0;  // client: a host
  double scaling = 0;  // rate per worker, as a share of the first point's: rate of N / (N x rate of 1)
};

struct WorkerScaling {
  std::string operation;
  bool metadata = false;
  uint64_t bytes_per_lane = 0, record_bytes = 0;
  std::vector<ScalingPoint> points;  // fewest workers first; at least two
};

// One entry for each phase of the plan that is there for several numbers of workers and is otherwise the same, in the
// plan's order; empty where there is none. Repetitions that were interrupted or lost a worker or lane are left out; a
// point of which nothing is left has NaN for its figures, and where that is the first one nothing is known of scaling.
std::vector<WorkerScaling> ScalingOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKER_SCALING_H_

// How rates scale with the number of workers, for sweeps over it.
#ifndef COORDINATOR_REPORT_TEXT_WORKER_SCALING_H_
#define COORDINATOR_REPORT_TEXT_WORKER_SCALING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Counts the workers in the phase's client tables, that is, those that took part, including lost ones. 0 for a brief
// without them.
uint32_t WorkerCount(const v1::PhaseReport& phase);

struct ScalingPoint {
  uint32_t worker_count = 0, client_count = 0, lane_count = 0;
  // The headline rate (ops/s if `in_ops`, otherwise bytes/s); the median of whole repetitions.
  double rate = 0;
  double rate_per_client = 0;  // a client is a host
  // The rate per worker relative to that of the first point. If that has one worker, rate of N / (N x rate of 1);
  // 1 is perfect scaling.
  double scaling = 0;
};

// A phase's points over numbers of workers. The other members say what they have in common.
struct WorkerScaling {
  std::string operation;
  uint32_t only_target = 0;  // of the plan's phase: index of the target + 1; 0: all targets
  bool metadata = false;
  bool in_ops = false;
  uint64_t bytes_per_lane = 0, record_bytes = 0;
  std::vector<ScalingPoint> points;  // ascending number of workers; at least two
};

// Returns, in the plan's order, one entry for each phase that the plan has with several numbers of workers but
// otherwise equal; empty if there is none. Repetitions that are not whole are excluded. A
// point without any whole repetition has NaN figures; if it is the first one, scaling is unknown.
std::vector<WorkerScaling> ScalingOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_WORKER_SCALING_H_

// IOzone's figures of lanes: what they moved, and their CPU utilization. Pure.
#ifndef COORDINATOR_ANALYSIS_FOREIGN_IOZONE_CPU_H_
#define COORDINATOR_ANALYSIS_FOREIGN_IOZONE_CPU_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// True for a lane that counts in the figures of its phase.
bool CountsForIozone(const v1::LanePhaseReport& lane);

struct IozoneCpu {
  double wall_s = 0, cpu_s = 0;
  double percent = 0;  // cpu_s / wall_s; 0: nothing was done
};
// Of one lane: its wall time is never less than its CPU time.
IozoneCpu IozoneCpuOf(const v1::LanePhaseReport& lane);
// The CPU time of all lanes over the longest time of one, so N busy lanes have N x 100 %.
IozoneCpu IozoneCpuOf(const v1::PhaseReport& phase);

// The fewest bytes, or ops, that a lane moved by the stonewall, 0 included; NaN: no lane counts.
double LeastMovedBytes(const v1::PhaseReport& phase);
double LeastMovedOps(const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FOREIGN_IOZONE_CPU_H_

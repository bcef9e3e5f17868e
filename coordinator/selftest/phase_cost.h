// What a phase costs the coordinator besides the lanes' own time.
#ifndef COORDINATOR_SELFTEST_PHASE_COST_H_
#define COORDINATOR_SELFTEST_PHASE_COST_H_

#include <cstdint>

namespace iobench {

// Wall time in seconds unless noted otherwise. The parts follow one another; together they are the phase's fixed cost.
struct PhaseCost {
  double prepare_s = 0;  // Prepare and its answers
  double clocks_s = 0;   // pings before the start and after the last end
  double arm_s = 0;      // telling all workers the start time
  double wait_s =
      0;  // from then to the last worker's message that its lanes have ended, without their timed part
  double collect_s = 0;  // all results
  double check_s = 0;    // checking whether they are possible
  double analyse_s = 0;
  double save_s = 0;
  double cpu_s = 0;  // processor time of this process, in all of its threads

  double FixedSeconds() const {
    return prepare_s + clocks_s + arm_s + wait_s + collect_s + check_s + analyse_s + save_s;
  }
};

// Processor time that this process has used so far, user and system.
double ProcessCpuSeconds();

// The most memory that this process has had so far (its peak resident set).
uint64_t PeakMemoryBytes();

}  // namespace iobench

#endif  // COORDINATOR_SELFTEST_PHASE_COST_H_

// The interface for observers of a run: the display, or a test. Called on the conductor's thread, between messages.
#ifndef COORDINATOR_RUN_RUN_OBSERVER_H_
#define COORDINATOR_RUN_RUN_OBSERVER_H_

#include <cstdint>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Progress of a phase. Best effort, based on polls that cannot affect results.
struct PhaseProgress {
  // Never null for an observer, and valid only during the call.
  const v1::Phase* phase = nullptr;
  uint32_t index = 0;  // index of this phase in the run, counted from 0
  uint32_t phase_count = 0;
  // Sums over the lanes that take part, as of each worker's last answer.
  uint64_t bytes = 0;
  uint64_t total_bytes = 0;  // 0: limited by time
  uint64_t ops = 0;
  uint64_t total_ops = 0;  // 0: limited by time
  uint32_t lanes_running = 0;
  uint32_t lane_count = 0;
  uint32_t workers_lost = 0;  // in the run so far
  double elapsed_s = 0;       // since T; negative before T
  double time_limit_s = 0;    // --time or --deadline; 0: no limit
};

// The default of every function is to do nothing. They must not block for long: until they return, no message is
// handled. References are valid during the call only.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // `joined` of the `count` workers that the run waits for have joined; fewer than before if one left again.
  virtual void WorkersJoin(uint32_t joined, uint32_t count) { (void)joined, (void)count; }
  // All checks have passed, and nothing has been written to the targets yet. The report has no phases.
  virtual void RunStarts(const v1::RunReport& report) { (void)report; }
  // The workers begin to prepare a phase, which may take minutes on a network file system. Called once per phase.
  virtual void PhasePrepares(const PhaseProgress& progress) { (void)progress; }
  // Called every progress_interval_ns() from T until the lanes have ended.
  virtual void PhaseMoves(const PhaseProgress& progress) { (void)progress; }
  // `report` contains briefs (coordinator/analysis/brief.h) of the phases so far, with this one as the last.
  virtual void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) {
    (void)report, (void)phase;
  }
  // The interval of PhaseMoves calls; 0: never, and workers are not polled for progress.
  virtual int64_t progress_interval_ns() const { return 0; }
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_RUN_OBSERVER_H_

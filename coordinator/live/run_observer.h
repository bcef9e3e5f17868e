// The interface for observers of a run: the display, live exports, or a test. Called on the conductor's thread, between
// messages.
#ifndef COORDINATOR_LIVE_RUN_OBSERVER_H_
#define COORDINATOR_LIVE_RUN_OBSERVER_H_

#include <cstdint>
#include <span>
#include <string>

#include "common/live/latency_bins.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a client's workers answered to their last polls: sums over its lanes that take part.
struct ClientProgress {
  std::string name;  // as in the phase's report
  uint64_t bytes = 0;
  uint64_t ops = 0;
  uint32_t lanes_running = 0;
  uint32_t lane_count = 0;
  uint32_t workers_lost = 0;  // of those that take part in the phase
  double at_s = 0;            // since T: mean time of these answers, so that a rate is exact; 0: none yet
  LatencyBins latency = {};   // of all its ops so far, or since the warm-up; empty unless shows_latency()
};

// Progress of a phase. Best effort, based on polls that cannot affect results.
struct PhaseProgress {
  // Never null for an observer, and valid only during the call.
  const v1::Phase* phase = nullptr;
  std::string name = {};  // as every output calls it (NameInRun): "read, 2 of 5"
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
  // All clients of the run and, in phases that servers do, the servers. Those that take no part have no lanes. Empty
  // while the phase is being prepared. Valid only during the call.
  std::span<const ClientProgress> clients = {};
};

// What a phase that ended early still writes, untimed, because later phases need it.
struct Unfinished {
  std::string for_whom;  // the first phase that needs it; "-w": a later run
  uint64_t bytes = 0;    // 0: names of trees
  uint64_t ops = 0;
  double seconds = 0;  // that this takes at the phase's rate; not finite: unknown
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
  // The workers begin to fill the file systems of the targets to this percentage (--fill), with this many bytes in all.
  virtual void SpaceFills(uint32_t percent, uint64_t bytes) { (void)percent, (void)bytes; }
  // The workers begin to prepare a phase, which may take minutes on a network file system. Called once per phase.
  virtual void PhasePrepares(const PhaseProgress& progress) { (void)progress; }
  // Called every progress_interval_ns() from T until the lanes have ended, when the workers have answered that poll, or
  // at the next one if some do not answer.
  virtual void PhaseMoves(const PhaseProgress& progress) { (void)progress; }
  // The timed part of a phase has ended, and its lanes now finish what it has left unfinished. Not called if that is soon
  // done.
  virtual void FilesAreFinished(const Unfinished& unfinished) { (void)unfinished; }
  // `report` contains briefs (coordinator/analysis/brief.h) of the phases so far, with this one as the last.
  virtual void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) {
    (void)report, (void)phase;
  }
  // The interval of PhaseMoves calls; 0: never, and workers are not polled for progress.
  virtual int64_t progress_interval_ns() const { return 0; }
  // Whether PhaseMoves uses latencies. If no observer does, workers are not asked for them.
  virtual bool shows_latency() const { return false; }
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_RUN_OBSERVER_H_

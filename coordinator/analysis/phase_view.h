// One phase with everything that has been found out about it so far; what the parts of a report are made from.
#ifndef COORDINATOR_ANALYSIS_PHASE_VIEW_H_
#define COORDINATOR_ANALYSIS_PHASE_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/analysis/align.h"
#include "coordinator/analysis/client_roster.h"
#include "coordinator/analysis/figures.h"
#include "coordinator/analysis/phase_traits.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct PhaseWrites;  // phase_writes.h

// Borrows all of it.
struct PhaseView {
  const v1::RunRecord& run;
  const v1::PhaseRecord& phase;
  const PhaseTraits& traits;
  const ClientRoster& roster;
  const AlignedPhase& aligned;
  const PhaseFigures& figures;
  const PhaseWrites* writes = nullptr;  // found out last, from the rest

  // The widest error of a worker's clock at the instants that figures use, ns: where the windows begin (the first op,
  // the end of the warm-up) and end (the stonewall, the deadline, the end of the last timed region).
  int64_t WorstErrorNs(const ClockMap& clock) const;
  // The worker that owns a lane's files, by the run's numbering. REQUIRES: the result is < roster.worker_count() or
  // treated as unknown.
  uint32_t OwnerWorkerOf(const v1::LaneResult& lane) const;
  // The target whose directory a lane worked in; null where the record does not say.
  const v1::TargetFacts* TargetOf(const AlignedLane& lane, uint32_t* target_index = nullptr) const;
};

// The mount that a target lies on: targets of one share their counters.
std::string MountOf(const v1::TargetFacts& target, uint32_t target_index);

bool IsNfs(const v1::TargetFacts& target);

// Local file systems whose block I/O the kernel charges to the process that asked (/proc/self/io). Others (FUSE, ZFS, 9p,
// tmpfs) work on behalf of somebody else or not through the block layer: its counters say nothing of them.
bool ChargesItsProcesses(const v1::TargetFacts& target);

// What of a phase is one client's.
struct ClientPart {
  std::vector<const AlignedWorker*> workers;
  std::vector<const AlignedLane*> lanes;
};
std::vector<ClientPart> ClientPartsOf(const PhaseView& view);  // by the roster's index

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_VIEW_H_

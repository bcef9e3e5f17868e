// One phase with all intermediate results so far; the input for the parts of a report.
#ifndef COORDINATOR_ANALYSIS_PHASE_PHASE_VIEW_H_
#define COORDINATOR_ANALYSIS_PHASE_PHASE_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/op.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/phase/align.h"
#include "coordinator/analysis/phase/client_roster.h"
#include "coordinator/analysis/phase/figures.h"
#include "coordinator/analysis/phase/phase_traits.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct PhaseWrites;  // phase_writes.h

// Borrows all members, which SummarizePhase owns. Immutable once `writes` is set.
struct PhaseView {
  const v1::RunRecord& run;
  const v1::PhaseRecord& phase;
  const PhaseTraits& traits;
  const ClientRoster& roster;
  const WorkerAssignments& assignments;  // of `phase`
  const AlignedPhase& aligned;
  const PhaseFigures& figures;
  // Derived from the other members and therefore set last; null until then.
  const PhaseWrites* writes = nullptr;

  // Returns the max. error in ns of a worker's clock at the instants that figures use: the starts of windows (first op,
  // end of the warm-up) and their ends (stonewall, deadline, end of the last timed region).
  int64_t WorstErrorNs(const ClockMap& clock) const;
  // Returns the worker that owns a lane's files, by the run's numbering. The result may be >= roster.worker_count();
  // callers must then treat it as unknown.
  uint32_t OwnerWorkerOf(const v1::LaneResult& lane) const;
  // Returns the target whose directory a lane used, as the lane's own client sees it, or null if the record does not
  // say. Sets `target_index`, if not null, to its index in the plan.
  const v1::TargetFacts* TargetOf(const AlignedLane& lane, uint32_t* target_index = nullptr) const;
};

// Identifies the mount of a target among those of one client: by its device, which two mounts of one server have in
// common if the kernel keeps one set of counters for them, whatever their sources are called. If that is unknown, by its
// filesystem_id, or its own number. Targets on the same mount share counters, which must be counted once.
std::string MountOf(const v1::TargetFacts& target, uint32_t target_index);

// True for every version of NFS that the kernel mounts; its mountstats have the counters.
bool IsNfs(const v1::TargetFacts& target);

// True for local file systems whose block I/O the kernel charges to the requesting process (/proc/self/io). Others
// (FUSE, ZFS, 9p, tmpfs) use other processes or bypass the block layer, so these counters do not cover them.
bool ChargesItsProcesses(const v1::TargetFacts& target);

// Returns the bytes of a lane's timed part, warm-up included (the hosts' counters include it too), that ops of these
// kinds moved. Kinds are counted only after the warm-up, so its share is taken to be theirs.
double TimedBytesOf(const v1::LaneResult& lane, OpKinds kinds);

// The part of a phase that belongs to one client: its workers in the record, lost ones too, and its lanes that count.
// Points into view.aligned.
struct ClientPart {
  std::vector<const AlignedWorker*> workers;
  std::vector<const AlignedLane*> lanes;
};
// Returns one part per client, by the roster's numbers. It is empty if the record has none of the client's workers.
std::vector<ClientPart> ClientPartsOf(const PhaseView& view);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_VIEW_H_

// One phase with everything that has been found out about it so far; what the parts of a report are made from.
#ifndef COORDINATOR_ANALYSIS_PHASE_VIEW_H_
#define COORDINATOR_ANALYSIS_PHASE_VIEW_H_

#include <cstdint>

#include "coordinator/analysis/align.h"
#include "coordinator/analysis/client_roster.h"
#include "coordinator/analysis/figures.h"
#include "coordinator/analysis/phase_traits.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Borrows all of it.
struct PhaseView {
  const v1::RunRecord& run;
  const v1::PhaseRecord& phase;
  const PhaseTraits& traits;
  const ClientRoster& roster;
  const AlignedPhase& aligned;
  const PhaseFigures& figures;

  // The widest error of a worker's clock over the phase, ns: at both ends and between, where bursts are farthest.
  int64_t WorstErrorNs(const ClockMap& clock) const;
  // The worker that owns a lane's files, by the run's numbering. REQUIRES: the result is < roster.worker_count() or
  // treated as unknown.
  uint32_t OwnerWorkerOf(const v1::LaneResult& lane) const;
  // The target whose directory a lane worked in; null where the record does not say.
  const v1::TargetFacts* TargetOf(const AlignedLane& lane, uint32_t* target_index = nullptr) const;
};

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_VIEW_H_

// Times in which lanes made no progress. Pure.
#ifndef COORDINATOR_ANALYSIS_PAUSES_H_
#define COORDINATOR_ANALYSIS_PAUSES_H_

#include <optional>
#include <span>

#include "coordinator/analysis/phase/align.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the pauses of one client's lanes, including failed ones: for each lane, the longest one within its ops, and
// its open, fsync, close and settling; in a soak, also their preparation. Stalls are pauses within ops by the rule of
// marks/stalls.h, and others of 1 s or more. nullopt: no pause is known. `workers`: the client's workers, without lost
// ones; `phase_s`: from the first op to the end of the last timed region.
std::optional<v1::PauseReport> PausesOf(const v1::PhaseRecord& phase,
                                        std::span<const AlignedWorker* const> workers, double phase_s);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PAUSES_H_

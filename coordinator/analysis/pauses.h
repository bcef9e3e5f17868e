// Times in which lanes made no progress. Pure.
#ifndef COORDINATOR_ANALYSIS_PAUSES_H_
#define COORDINATOR_ANALYSIS_PAUSES_H_

#include <optional>
#include <span>

#include "coordinator/analysis/phase/align.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the pauses of the lanes of one client, failed ones too: of each lane the longest within its ops, and its open,
// fsync, close and settling; in a soak, also their preparation. nullopt: none is known. `workers`: those of the client, without those that were lost.
std::optional<v1::PauseReport> PausesOf(const v1::PhaseRecord& phase,
                                        std::span<const AlignedWorker* const> workers);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PAUSES_H_

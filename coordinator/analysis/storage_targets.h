// Rates and latencies by storage target: servers, object storage targets, bricks. Pure.
#ifndef COORDINATOR_ANALYSIS_STORAGE_TARGETS_H_
#define COORDINATOR_ANALYSIS_STORAGE_TARGETS_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills storage_targets, slowest first; empty if fewer than two targets are known. A lane's files are where the worker
// found them (LaneResult.places); those on an NFS mount without pNFS are on its server.
//
// A target is slow if its lanes have less than kSlowTargetShare (explain/limit_rules.h) of the rate at which lanes of the same
// clients work elsewhere, so that a slow client makes no target slow; in most parts of the time with all lanes at work and
// not by chance. It must be slower than crowding explains, too: lanes that share a busy target are slower than one that has
// such a target for itself, but do more together. Targets that always hold the same lanes' files are judged together. Where
// each client has files on one target only (NFS servers), clients take the place of lanes, and all of one target's must be
// slow. Lanes with files on several targets count only if no two targets have lanes of their own; they are compared with lanes
// that have as many, and show less of each.
//
// REQUIRES: the rest of `report` is filled, except for its limits.
void FillStorageTargets(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STORAGE_TARGETS_H_

// Detects whether a client's reads or metadata operations were answered from its own memory.
#ifndef COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_
#define COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_

#include <vector>

#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the mark `cached` of one client for its reads and for its metadata operations: over 5 % of the bytes, or of
// the ops, did not reach the server or device, as far as the client's counters show. Lanes whose file system has no
// such counter are left out of the share; they may have the mark maybe_cached (maybe_cached.h). Also `holes`, if over 5 %
// of what it read are not stored as they are. `client`: its row in the report
// with host_delta and read_sources filled; `part`: its part of the same phase.
std::vector<v1::Mark> CacheMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                 const ClientPart& part);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_

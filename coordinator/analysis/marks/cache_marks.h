// Detects whether a client's reads or metadata operations were answered from its own memory.
#ifndef COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_
#define COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_

#include <vector>

#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The mark `cached` of one client.
std::vector<v1::Mark> CacheMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                 const ClientPart& part);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_CACHE_MARKS_H_

// Judges whether a phase was cold that should be (--cold, and reads as usual).
#ifndef COORDINATOR_ANALYSIS_MARKS_COLD_REPORT_H_
#define COORDINATOR_ANALYSIS_MARKS_COLD_REPORT_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills `cold` of a phase with DropCaches.verify; other phases have none. A client was cold if at most 5 % of its files' bytes
// were in its memory before the start and at most 5 % of what it read came from there. Adds the mark not_cold if a
// client was not, unless its file system is in memory (mark memory_fs). Servers that were warm, as far as
// their counters show, leave it unverified (mark server_cached).
// REQUIRES: read_sources and the clients' marks are filled.
void FillCold(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_COLD_REPORT_H_

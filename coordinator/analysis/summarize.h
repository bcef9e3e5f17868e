// Converts one phase's raw record to its report. Pure: no I/O, clock, transport or log.
#ifndef COORDINATOR_ANALYSIS_SUMMARIZE_H_
#define COORDINATOR_ANALYSIS_SUMMARIZE_H_

#include "iobench/v1/finished.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Computes all figures, marks and errors of one phase, as defined in docs/definitions.md. If a worker's clock map
// cannot be fitted, its lanes are aligned by its best burst and marked clock_step.
// Charts (coordinator/analysis/charts) cost as much as all the rest, and only some reports show them.
enum class Charts { kLeftOut, kFilledIn };
v1::PhaseReport SummarizePhase(const v1::RunRecord& run, const v1::PhaseRecord& phase,
                               Charts charts = Charts::kLeftOut);

// The same, with all else that the report of a run takes from the phase's record. Thread-safe, so several phases can be
// computed at a time. Leaves `file` unset.
v1::FinishedPhase FinishPhase(const v1::RunRecord& run, const v1::PhaseRecord& phase,
                              Charts charts = Charts::kLeftOut);

// Returns the report without phases: schema, run, clients (with offset and error of their clocks from `newest`, which
// may be null).
v1::RunReport SummarizeRun(const v1::RunRecord& run, const v1::PhaseRecord* newest);

// Returns the clock of each client, in the order of the report; all unknown if `phase` is null.
google::protobuf::RepeatedPtrField<v1::ClientClock> ClocksOf(const v1::RunRecord& run,
                                                             const v1::PhaseRecord* phase);
// Updates the clocks of a report's clients. REQUIRES: `clocks` has one for each.
void UpdateClocks(const google::protobuf::RepeatedPtrField<v1::ClientClock>& clocks, v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SUMMARIZE_H_

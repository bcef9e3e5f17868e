// From raw to finished: one phase's record becomes its report. Pure: no I/O, no clock, no transport, no log.
#ifndef COORDINATOR_ANALYSIS_SUMMARIZE_H_
#define COORDINATOR_ANALYSIS_SUMMARIZE_H_

#include <span>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Every figure, mark and error of one phase, as docs/measurement.md defines them. Lanes of a worker whose clock map
// cannot be fitted are aligned by its best burst and marked clock_step.
v1::PhaseReport SummarizePhase(const v1::RunRecord& run, const v1::PhaseRecord& phase);

// The report without phases: schema, run, clients (offset and error of the clocks from `newest`, which may be null).
v1::RunReport SummarizeRun(const v1::RunRecord& run, const v1::PhaseRecord* newest);

// The clocks of a report's clients from a newer phase.
void NoteClocks(const v1::RunRecord& run, const v1::PhaseRecord* newest, v1::RunReport& report);

// Median, distribution-free interval and the rest, one entry per phase name; empty unless some name has two or more.
std::vector<v1::RepetitionReport> SummarizeRepetitions(std::span<const v1::PhaseReport> phases);
std::vector<v1::RepetitionReport> SummarizeRepetitions(
    const google::protobuf::RepeatedPtrField<v1::PhaseReport>& phases);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SUMMARIZE_H_

// Warnings that are part of a result: what makes a figure doubtful, and what to do about it. The table of all marks is
// in docs/measurement.md; a mark is set only where its data are there, never on a guess.
#ifndef COORDINATOR_ANALYSIS_MARKS_H_
#define COORDINATOR_ANALYSIS_MARKS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/analysis/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills the marks of the phase and of its clients. A client's mark stands with the client and, named by its subject, in
// the phase's list too, which so holds all of them. Marks of several clients that mean the same have the same text.
// REQUIRES: everything else of `report` is filled.
void FillMarks(const PhaseView& view, v1::PhaseReport& report);

// The marks of the phase as a whole: start_late, begun_before, skewed_start, too_short, unflushed, not_shared,
// memory_fs, partial, nothing_found, data_time, pace_missed, options_differ.
std::vector<v1::Mark> PhaseMarks(const PhaseView& view, const v1::PhaseReport& report);

// The marks of one client: clock_step, clock_uncertain, cached, absorbed, stalled, cpu_bound, network_bound, retransmits.
std::vector<v1::Mark> ClientMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part);

// cpu_bound, network_bound.
void AddLoadMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                  std::span<const AlignedLane* const> lanes, std::vector<v1::Mark>& marks);

// stalled; of a client's lanes the longest is told of.
std::optional<v1::Mark> StallMark(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  std::span<const AlignedLane* const> lanes);

// options_differ: kernel, and for network file systems the type and mount options, as the clients of a run see them.
// Options that are a client's own (its address, its port) do not count.
std::optional<v1::Mark> OptionsDiffer(const v1::RunRecord& run, const ClientRoster& roster);

bool HasMark(const v1::PhaseReport& report, std::string_view code);

v1::Mark MakeMark(std::string_view code, std::string_view subject, double value, double threshold,
                  std::string_view text);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_H_

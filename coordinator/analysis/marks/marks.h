// Marks: warnings in a result that say why a figure is doubtful and what to do about it. docs/marks.md has a
// heading for each. A mark is set only if the data for it exists, never by guessing.
#ifndef COORDINATOR_ANALYSIS_MARKS_MARKS_H_
#define COORDINATOR_ANALYSIS_MARKS_MARKS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills the marks of the phase and of its clients, and what is known of its coldness (cold_report.h). A client's mark
// is listed with the client and also, with the client as subject, with the phase, whose list therefore contains all
// marks. Marks of several clients with the same meaning have the same text. REQUIRES: the rest of `report` is filled.
void FillMarks(const PhaseView& view, v1::PhaseReport& report);

// The marks of the phase as a whole: refused_result, start_late, begun_before, skewed_start, too_short, unflushed,
// coordinator_stopped, rate_changed, server_cached, not_shared, memory_fs, partial, failed_ops, nothing_found, data_time, pace_missed, generator_bound,
// shared_transport, options_differ, and FaultMarks. If no lane counts, only refused_result, partial, failed_ops and
// coordinator_stopped: there is no figure to doubt. REQUIRES:
// view.writes is set, and the rest of `report` is filled.
std::vector<v1::Mark> PhaseMarks(const PhaseView& view, const v1::PhaseReport& report);

// The marks of one client (client_marks.cc): clock_step, clock_uncertain, cached, maybe_cached, holes, not_offloaded, absorbed, stalled, cpu_quota,
// io_limited, cpu_bound, network_bound, retransmits, retransmissions. `client`: its filled row in the report, with at least one worker;
// `part`: its part of the same phase.
// REQUIRES: view.writes is set.
std::vector<v1::Mark> ClientMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part);

// Adds (load_marks.cc) cpu_quota and io_limited (limits of the client's control groups: group_marks.cc), cpu_bound (the host or a lane's
// processor is over 95 % busy, or the hypervisor withholds over 5 %) and network_bound (a link carries at least 95 % of
// its speed). Where such a limit explains why lanes waited, or where the lanes hardly waited for a processor, others on
// the host are not blamed. Phases under 0.1 s get no cpu_bound, because the kernel
// counts CPU time in ticks of 10 ms; nor do lanes that mostly wait for their pace. A percentage that is unknown (NaN)
// sets no mark.
void AddLoadMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                  std::span<const AlignedLane* const> lanes, std::vector<v1::Mark>& marks);

// Returns cpu_quota: quotas of control groups stopped the client's processes for more than 1 % of the phase.
std::optional<v1::Mark> QuotaMark(const v1::ClientPhaseReport& client);
// Returns "10 MiB/s of writes to sda".
std::string NameOfLimit(const v1::IoLimitDelta& limit);
// Returns io_limited: at least 90 % of a limit on block I/O was used.
std::optional<v1::Mark> IoLimitMark(const v1::ClientPhaseReport& client);

// Returns stalled (stall_mark.cc), with the longest stall of the client's lanes and when there were others, or nullopt. The rule is in
// marks/stalls.h. Where no other op of the lane shows what is usual (its first op, or what precedes and follows its
// ops), what the coordinator saw of the workers while they worked decides (StillWork).
std::optional<v1::Mark> StallMark(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part);

// Returns rate_changed (rate_mark.cc): the headline is a mean of several levels of throughput.
std::optional<v1::Mark> RateMark(const v1::PhaseReport& report);
// "12.3 s and 4.2 GiB": when a change was; of ops that move no bytes, with their number.
std::string MovedUntilText(const v1::RateChange& change);
// A level of throughput with its unit, that of the phase's headline: "350 MiB/s".
std::string LevelText(const v1::PhaseReport& report, double per_s);

// Returns coordinator_stopped (fault_marks.cc).
std::optional<v1::Mark> CoordinatorStopped(const PhaseView& view);
// Returns the marks of faults that the phase survived (fault_marks.cc): resumed, reconnected, retried_ops.
std::vector<v1::Mark> FaultMarks(const PhaseView& view, const v1::PhaseReport& report);

// Returns shared_transport (transport_mark.cc): with --each-path, the mounts of two paths have a connection in common on some client.
std::optional<v1::Mark> TransportMark(const PhaseView& view);

// Returns options_differ (options_differ.cc): the clients of a run differ in kernel, or, for network file systems, in file system type or
// mount options. Options that are specific to a client (its address, its port) are ignored.
std::optional<v1::Mark> OptionsDiffer(const v1::RunRecord& run, const ClientRoster& roster);

// Searches the phase's own list, which also has the marks of its clients once FillMarks is done.
bool HasMark(const v1::PhaseReport& report, std::string_view code);
// True if I/O or verification failed, or a worker's results were refused: exit code 2.
bool HasFailed(const v1::PhaseReport& report);

// REQUIRES: `code` is in the table (mark_table.h), and only the table or the caller has an advice. `subject`: "phase", or a client's display name. `value` and `threshold` have the mark's own unit, which
// docs/marks.md gives; threshold 0: there is none. The mark's text is `what`, which says what is
// wrong, and the advice of the table's row, or `advice`, where it depends on the phase.
v1::Mark MakeMark(std::string_view code, std::string_view subject, double value, double threshold,
                  std::string_view what, std::string_view advice = {});

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_MARKS_H_

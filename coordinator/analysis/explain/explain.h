// Which resource set the pace of a phase: rules over the figures of its report. Pure.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_EXPLAIN_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_EXPLAIN_H_

#include <cstddef>
#include <limits>
#include <vector>

#include "coordinator/analysis/explain/over_time.h"
#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

inline constexpr size_t kMaxLimits = 2;  // a phase may have two in turn, such as writing and then flushing

// A time of a phase with one level of throughput.
struct RateLevel {
  // How much the throughput varied: the standard deviation, relative to the mean, of pieces of 1/24 of the time with all
  // lanes at work. NaN: the level was too short to tell.
  double scatter = std::numeric_limits<double>::quiet_NaN();
};

// What Explain needs to know of a phase besides its report.
struct ExplainFacts {
  bool all_paced = false;  // every operation has a pace or a rate
  // Ops in flight while all lanes wait for one each: lanes x queue depth. NaN: the operations differ in depth.
  double in_flight = std::numeric_limits<double>::quiet_NaN();
  // Every write is on stable storage before its op ends: O_SYNC, O_DSYNC, O_RSYNC, or O_DIRECT, whose writes NFS
  // clients send as synchronous.
  bool sync_writes = false;
  std::vector<double> server_processors = {};  // in the order of PhaseReport.servers
  // The part of the report's lanes_wall_s before the end of the warm-up, whose ops have no latency in the report.
  double warmup_lanes_s = 0;
  // What all lanes wrote, also past the clients' memory: the counterpart of read_sources.asked_bytes.
  double written_bytes = 0;
  // The lanes' time in pauses that the plan asks for: think time, and pauses between bursts.
  double paused_lanes_s = 0;
  bool same_work = true;          // all workers do the same
  bool sequential_reads = false;  // all operations read in order, through the clients' memory
  bool buffered_writes = false;   // all operations only write, through the clients' memory
  bool unflushed_writes = false;  // the same, and no flush between the ops lets it arrive
  bool only_writes = false;       // all operations only write
  bool only_reads = false;        // all operations only read
  bool local_storage = false;     // all targets are on local file systems, whose storage the clients have to themselves
  // Read-ahead of the targets' mounts, the largest. NaN: unknown for one of them.
  double read_ahead_bytes = std::numeric_limits<double>::quiet_NaN();
  OverTime over_time = {};
  std::vector<RateLevel> levels = {};  // before, between and after the changes of the report; empty without changes
};
// All but over_time and levels, for which the report is needed.
ExplainFacts ExplainFactsOf(const PhaseView& view);

// The limits of a phase by the rules of limit_rules.h, strongest first, at most kMaxLimits. Empty: no rule fires, so
// the limit is unknown. Signals that were not measured never fire. REQUIRES: the report has its clients, marks, servers
// and figures.
std::vector<v1::Limit> Explain(const v1::PhaseReport& report, const ExplainFacts& facts);

// Sets limits, limited_by to the evidence of the first one, and the causes of changes. REQUIRES: as Explain, and the report
// has its changes.
void FillLimits(const PhaseView& view, const OverTime& over_time, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_EXPLAIN_H_

// Builds the report of a run phase by phase: while the run proceeds, or again from its saved record. Pure.
#ifndef COORDINATOR_ANALYSIS_REPORT_BUILDER_H_
#define COORDINATOR_ANALYSIS_REPORT_BUILDER_H_

#include <span>
#include <string>

#include "iobench/v1/finished.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A run and `cluster-iobench report` build their reports here, so that both show the same. Not thread-safe. Call Begin
// first, then Add for each phase in the order of the run. Memory grows by one brief a phase, because a run may have
// thousands of phases with thousands of lanes each.
class ReportBuilder {
 public:
  // `run` must outlive it.
  explicit ReportBuilder(const v1::RunRecord& run) : run_(run) {}

  // Fills the report with what is known before the phases: run, clients and notes. REQUIRES: workers, targets and plan
  // of the run are final. `newest`: its pings give the clocks of the clients until a phase is added; may be null.
  void Begin(const v1::PhaseRecord* newest);
  void BeginWithClocksOf(const v1::FinishedPhase& newest);
  // Adds a phase and returns its full report. report() gets a brief of it (coordinator/analysis/brief.h) and the clocks
  // that it measured.
  v1::PhaseReport Add(const v1::PhaseRecord& phase);
  // Adds a phase that FinishPhase has computed from this run, perhaps in another thread or an earlier process.
  v1::PhaseReport Add(v1::FinishedPhase phase);
  // Updates the results over all phases so far: the score, the verdicts on the plan's criteria, scaling, paths side by
  // side, the surfaces of sweeps and, if the plan repeats its phases, the repetitions. Call it before the report is saved or shown; Add does not call it, because it reads
  // every phase.
  void UpdateTotals();
  // Takes over what has changed in the run's record: problems, exit code, whether it has finished.
  void UpdateRun();
  // Adds the digest of a file that the report was computed from. If the first digest has the same name, replaces that:
  // a run saves run.pb several times.
  void AddFile(const v1::FileDigest& file);
  // Adds the phases that a saved run no longer has, and why, in the words of the warnings. UpdateRun would remove them.
  void RecordMissing(std::span<const v1::MissingPhase> phases, std::span<const std::string> warnings);

  const v1::RunReport& report() const { return report_; }

 private:
  bool IsScored(const v1::PhaseReport& phase) const;

  const v1::RunRecord& run_;
  v1::RunReport report_;
};

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_REPORT_BUILDER_H_

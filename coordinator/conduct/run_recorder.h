// What a run has found so far: its raw record with the plan, and its report, both saved after each phase.
#ifndef COORDINATOR_CONDUCT_RUN_RECORDER_H_
#define COORDINATOR_CONDUCT_RUN_RECORDER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/conduct/conductor_options.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/report/result_store.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One object per run. Until Open has succeeded, nothing is saved, and until ReplaceEarlier has, an earlier result in its
// place is unchanged; without an out_directory, nothing is ever saved. The order: Begin, Open, ReplaceEarlier, the phases,
// with AdoptUpTo before each, End, Finish. Not thread-safe.
class RunRecorder {
 public:
  // `options` must outlive it. `coordinator`: this process; the record of a resumed run has the one that began it. `plan`:
  // as asked for.
  RunRecorder(const ConductorOptions& options, const v1::WorkerFacts& coordinator, v1::Plan plan,
              const std::string& transport);

  // The run's plan, the only one: as asked for, then resolved for the workers, then with notes and the phases that a
  // PhaseSource adds. It stays where it is.
  v1::Plan& plan() { return *record_.mutable_plan(); }
  // Without its phases, which are only in out_directory.
  const v1::RunRecord& record() const { return record_; }
  // With briefs of its phases (coordinator/analysis/brief.h).
  const v1::RunReport& report() const { return report_.report(); }
  // When this run, or this part of it, has begun.
  const std::string& began_at() const { return met_.started_at(); }
  // OK, or the first failure to save something.
  const absl::Status& saved() const { return saved_; }

  // Who takes part and what they see, and with that the report's beginning. A resumed run keeps the workers that began it;
  // FailedPrecondition: these are others. REQUIRES: what happens to the data is decided.
  absl::Status Begin(const Assembly& assembly, const Cluster& cluster, const Look& look);
  // Takes the directory of the results, and begins them there. Returns true if it has not, because there is an earlier
  // result, which ReplaceEarlier replaces or continues. FailedPrecondition: another process has the directory, or has changed
  // the saved run. Other errors: those of ResultStore.
  absl::StatusOr<bool> Open();
  absl::Status ReplaceEarlier();
  // Adds the finished phases before this one of a run that is resumed to the report, as they are saved.
  absl::Status AdoptUpTo(uint32_t index, Cluster& cluster, RunObserver& observer);
  // Adds a phase to the plan. A phase on disk is in the plan on disk.
  absl::Status AddPlanned(v1::Phase phase);
  // A phase of the plan does not run, because --max-duration leaves no time for it; or it was cut short.
  enum class Limited { kSkipped, kShortened };
  void RecordLimited(const v1::Phase& phase, Limited how);
  // Saves the record of a phase that has ended, as far as it is known; AddPhase saves it again, and reports errors.
  void SaveEarly(const v1::PhaseRecord& record);
  // Adds a phase that has ended, saves it, and returns its report. `cost`: gets the time for that. `saved`: whether it
  // could be saved.
  v1::PhaseReport AddPhase(const v1::PhaseRecord& record, PhaseCost& cost, absl::Status& saved);
  void RecordProblem(const absl::Status& status);
  absl::Status SaveRun();
  // Updates the results over all phases so far.
  void UpdateTotals() { report_.UpdateTotals(); }
  // Ends the record, and returns the exit code so far: kExitThreshold instead of kExitOk if a criterion was not met, or the
  // phases never became steady (--until steady).
  // `program_digest`: of this program's file; nullopt: the record has none. Saves nothing: until Finish, the results on
  // disk are those of a run without an exit code.
  int End(int exit_code, const std::optional<std::string>& program_digest);
  // Saves the end with the exit code of the process, and gives the directory up. Returns that code: kExitIo instead of
  // kExitOk if it could not be saved.
  int Finish(int exit_code);

  // What has gone wrong so far.
  struct Outcome {
    bool lost_before = false;  // a worker, in a phase before the run was resumed
    bool io_failed = false;
    bool verification_failed = false;
  };
  const Outcome& outcome() const { return outcome_; }

 private:
  absl::Status SaveReport();

  const ConductorOptions& options_;
  v1::RunRecord record_;
  // In a resumed run, the workers and targets as they are now, since record_ keeps its own. Otherwise only record_ has
  // them, since those of 10,000 workers take memory.
  v1::RunRecord met_;
  ReportBuilder report_{record_};
  std::optional<ResultStore> store_;  // nullopt: nothing is saved, or not yet
  std::optional<ResultStore> taken_;  // becomes store_ when it replaces the earlier result
  uint32_t adopted_ = 0;  // the report has the phases before this one
  absl::Status saved_;
  Outcome outcome_;
};

// True if a phase's record has any result to save.
bool HasResults(const v1::PhaseRecord& record);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_RUN_RECORDER_H_

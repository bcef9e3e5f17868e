// Conducts one run from start to end: collect what workers see, check, claim the data, run every phase of every
// repetition and save after each, then keep or remove the data.
#ifndef COORDINATOR_CONDUCT_CONDUCTOR_H_
#define COORDINATOR_CONDUCT_CONDUCTOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/transport.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/hook/phase_hooks.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/plan/later_needs.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight.h"
#include "coordinator/report/result_store.h"
#include "coordinator/conduct/data/data_keeper.h"
#include "coordinator/process/failure.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/selftest/phase_cost.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class DataLedger;

// What is known of the workers before the first phase. `targets`: by worker number.
struct Examination {
  Cluster& cluster;
  const ClockSync& clocks;
  const v1::Plan& plan;
  std::span<const v1::WorkerTargets> targets;
  const PreflightReport& preflight;
  // Runs the phases of the plan and removes their data. The report has briefs of them (coordinator/analysis/brief.h),
  // and the observer is notified of each. Call it at most once. Unavailable: a worker was lost; Cancelled: interrupted;
  // otherwise why they could not run, or what is left of their data.
  std::function<absl::StatusOr<const v1::RunReport*>()> measure;
};

// The basis for choosing the next phase. The references are valid during the call.
struct PhasesSoFar {
  const v1::PhaseReport& newest;
  const v1::Plan& plan;  // as it is run, with the phases so far
  std::span<const Member> members;
};

struct ConductorOptions : AssemblyOptions {
  std::string run_name;  // for display, and the name of its directory
  // Identifies the run in messages, in the manifest and in the data that it writes. Random and never 0, which stands
  // for no run. A run that is resumed gets a new one, so that workers of its earlier part, which may still be there,
  // cannot be mistaken for its own.
  uint64_t run_id = 0;
  std::string command;                     // as typed
  std::string label;                       // --label
  std::optional<v1::IozoneOutput> iozone;  // what IOzone's report formats show, besides the figures
  ClusterPatience patience;      // with workers that do not answer or make no progress
  int64_t phase_timeout_ns = 0;  // of each phase; workers that need longer are lost; 0: none
  int64_t sample_interval_ns = kNanosPerSecond / 4;  // between two readings of samplers
  bool in_process = false;  // workers are in this process, so messages arrive almost at once
  HookCommands hooks;  // REQUIRES, if there are any: an out_directory, which gets their output
  // Called once, after all checks and before the first phase; an error refuses the run. For measurements of the
  // network.
  std::function<absl::Status(Cluster& cluster)> before_phases = nullptr;
  // For runs whose phases depend on what earlier ones measured. Called when the plan's phases have been run, and after
  // each phase that it returns: that phase is added to the plan and run; nullopt ends the run. Its phases use no more
  // lanes, files or kinds of files than the plan's, which were checked.
  std::function<std::optional<v1::Phase>(const PhasesSoFar& so_far)> next_phase = nullptr;
  CoordClock clock = CoordNow;  // or a test clock
  // With preflight_only: called while the workers are still there, whatever was found.
  std::function<void(const Examination&)> examine = nullptr;
  double max_duration_s = 0;  // of all phases, from the first one's preparation; 0: no limit
  // Returns the hash of this program's file. Called once, on another thread, when everything has been measured; empty:
  // the results go without it.
  std::function<std::string()> program_digest;
  std::string out_directory;  // for results; created when all checks have passed; empty: save nothing
};

// Use each object only once. The transport, observer and interrupt must outlive it. Everything runs on the thread that
// calls Run, which must be the one that owns the transport; the observer is called on it too.
class Conductor {
 public:
  // `coordinator`: the facts of this process, with which those of the workers are compared. `plan`: complete and
  // checked by CheckPlan; what depends on the workers is checked when they have joined.
  Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
            const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options);

  // Conducts the run and returns the exit code. The report is saved in out_directory; report() has it with briefs of
  // its phases (coordinator/analysis/brief.h). If the run is refused (plan does not fit these hosts, versions differ
  // …), the code is kExitUsage, or kExitInterrupted after an interrupt, refusal() has a one-line reason, and no data
  // have been written. Otherwise it is the first that applies: kExitInterrupted; kExitIo if I/O or verification failed
  // or a phase could not be saved; kExitPartial if a worker was lost; kExitThreshold if a criterion was not met;
  // kExitOk. Blocks until the end of the run. The workers have been dismissed when it returns.
  int Run();

  // The accessors' results are valid when Run has returned.
  const v1::RunReport& report() const { return report_.report(); }
  // The raw record without its phases, which are only in out_directory.
  const v1::RunRecord& record() const { return record_; }
  const absl::Status& refusal() const { return refusal_; }
  // OK, or the first failure to write to out_directory.
  const absl::Status& saved() const { return saved_; }
  uint64_t bytes_needed() const { return bytes_needed_; }  // total of the data on all file systems
  // What each phase cost, in the order of the phases that ended.
  const std::vector<PhaseCost>& phase_costs() const { return phase_costs_; }
  double join_s() const { return assembly_.join_s(); }  // until all workers had joined
  uint32_t silence_count() const { return cluster_.silence_count(); }
  const PreflightReport& preflight() const { return assembly_.preflight(); }
  bool uses_kept_data() const { return uses_kept_data_; }

 private:
  v1::RunRecord& MetRecord() { return options_.resume.has_value() ? met_ : record_; }
  void RecordWorkers(const Look& look);
  absl::Status OpenResults();
  absl::Status CheckResumed();
  absl::Status AdoptPhases();
  void RecordNotes(const std::vector<std::string>& notes);
  void RecordOutcome(const v1::PhaseReport& phase);
  int Refuse(absl::Status why);
  bool EndedByLauncher() const;
  absl::Status ClaimAndRun(Look& look, DataLedger& ledger);
  absl::StatusOr<const v1::RunReport*> Measure(Look& look);
  // Unavailable, with the name of the first worker that was lost; OK: none.
  absl::Status FirstLoss() const;
  absl::Status RunPhases(DataKeeper& data, DataLedger& ledger, ClockSync& clocks, const Layout& layout);
  struct PhaseLoop;
  absl::StatusOr<bool> BeginsRound(CoordTime begin, uint32_t repetition);
  // `place`: index of the phase in the plan; `index`: in the run. Returns whether --max-duration left time for the phase.
  absl::StatusOr<bool> RunPhase(PhaseLoop& loop, int place, uint32_t index, uint32_t repetition);
  LaterNeeds NeedsAfter(const Layout& layout, int place, uint32_t repetition) const;
  absl::StatusOr<StepsOfWorkers> FillSpace(DataKeeper& data, bool is_first, const v1::Phase& phase);
  absl::Status FinishPhase(const v1::PhaseRecord& record, PhaseCost& cost);
  bool HasTimeFor(const v1::Phase& phase, CoordTime begin, v1::Phase& fitted);
  CoordTime EndOfDuration(CoordTime begin) const;
  void RecordIfShortened(const v1::Phase& phase, const v1::PhaseRecord& record);
  absl::Status SaveRun();
  absl::Status SaveReport();
  void RecordProblem(const absl::Status& status);
  void LeaveData(DataKeeper& data, const DataLedger& ledger);
  int Finish(int exit_code);
  bool MeetsCriteria() const;
  int Verdict(const absl::Status& status) const;

  const Interrupt& interrupt_;
  RunObserver& observer_;
  const v1::WorkerFacts coordinator_;  // this process; the record of a resumed run has the one that began it
  v1::Plan plan_;  // resolved once the workers have been looked at; then with the phases of next_phase
  const ConductorOptions options_;
  Cluster cluster_;
  Assembly assembly_;
  std::optional<ResultStore> store_;  // nullopt: nothing is saved, or not yet
  v1::RunRecord record_;
  // In a resumed run, the workers and targets as they are now, since record_ keeps its own. Otherwise only record_ has
  // them, since those of 10,000 workers take memory.
  v1::RunRecord met_;
  ReportBuilder report_{record_};
  absl::Status refusal_;
  absl::Status saved_;
  uint64_t bytes_needed_ = 0;
  bool uses_kept_data_ = false;
  std::vector<PhaseCost> phase_costs_;
  std::optional<v1::PhaseReport> last_phase_;  // for next_phase; else nullopt
  bool lost_before_ = false;  // a worker, in a phase before the run was resumed
  bool io_failed_ = false;
  bool verification_failed_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_CONDUCTOR_H_

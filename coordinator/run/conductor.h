// Conducts one run from start to end: collect what workers see, check, claim the data, run every phase of every
// repetition and save after each, then keep or remove the data.
#ifndef COORDINATOR_RUN_CONDUCTOR_H_
#define COORDINATOR_RUN_CONDUCTOR_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/transport.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/report/result_store.h"
#include "coordinator/run/failure.h"
#include "coordinator/run/run_observer.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class ClockSync;
class DataKeeper;
class DataLedger;
class Layout;

struct ConductorOptions {
  std::string run_name;  // for display, and the name of its directory
  // Identifies the run in messages, in the manifest and in the data that it writes. Random and never 0, which stands
  // for no run.
  uint64_t run_id = 0;
  std::string command;  // as typed
  // This program's version; workers of another one are refused.
  std::string version;
  uint32_t worker_count = 1;  // the run begins when this many have joined
  CoordTime join_deadline{INT64_MAX};
  int64_t lost_after_ns = Cluster::kDefaultLostAfterNs;  // time after which a silent worker counts as lost
  JoinWatch join_watch;
  bool in_process = false;  // workers are in this process, so messages arrive almost at once
  // --force: replaces an earlier result and the data of a crashed run, and goes on if space is short or clients see
  // different file systems.
  bool force = false;
  bool always_measure_clocks = false;  // even if boot ids are equal; for tests
  CoordClock clock = CoordNow;         // or a test clock
  // Stops after all checks. Nothing has been written then, neither data nor results.
  bool dry_run = false;
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
  // or a phase could not be saved; kExitPartial if a worker was lost; kExitOk. Blocks until the end of the run. The
  // workers have been dismissed when it returns.
  int Run();

  // The accessors have their results when Run has returned.
  const v1::RunReport& report() const { return report_.report(); }
  // The raw record without its phases, which are only in out_directory.
  const v1::RunRecord& record() const { return record_; }
  const absl::Status& refusal() const { return refusal_; }
  // OK, or the first failure to write to out_directory.
  const absl::Status& saved() const { return saved_; }
  uint64_t bytes_needed() const { return bytes_needed_; }  // total of the data on all file systems

 private:
  absl::Status GatherWorkers();
  absl::Status MeetWorkers(ClockSync& clocks);
  void UseWorkersPaths();
  std::vector<uint32_t> ClientsOfWorkers() const;
  absl::Status LookAtTargets(DataKeeper& data);
  absl::Status OpenResults();
  int Refuse(absl::Status why);
  absl::Status RunPhases(DataKeeper& data, DataLedger& ledger, ClockSync& clocks, const Layout& layout);
  absl::Status FinishPhase(const v1::PhaseRecord& record);
  absl::Status SaveReport();
  void NoteBrokenFiles(const v1::PhaseRecord& record, const Layout& layout);
  void NoteProblem(const absl::Status& status);
  void LeaveData(DataKeeper& data, const DataLedger& ledger);
  int Finish(int exit_code);
  int Verdict(const absl::Status& status) const;

  const Interrupt& interrupt_;
  RunObserver& observer_;
  // Constant after the workers have joined, who may bring their own targets.
  v1::Plan plan_;
  const ConductorOptions options_;
  Cluster cluster_;
  std::optional<ResultStore> store_;  // nullopt: nothing is saved, or not yet
  v1::RunRecord record_;
  ReportBuilder report_{record_};
  // Owner lanes whose files an earlier phase left in an unknown state, because a lane failed or its worker was lost
  // while it wrote. Lanes sit out phases that need them until a phase creates them again.
  std::set<uint32_t> broken_files_;
  absl::Status refusal_;
  absl::Status saved_;
  uint64_t bytes_needed_ = 0;
  bool io_failed_ = false;
  bool verification_failed_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_CONDUCTOR_H_

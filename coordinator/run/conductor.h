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
  uint64_t run_id = 0;   // identifies the run in messages and the manifest
  std::string command;   // as typed
  std::string version;
  uint32_t worker_count = 1;
  CoordTime join_deadline{INT64_MAX};
  int64_t lost_after_ns = Cluster::kDefaultLostAfterNs;  // time after which a silent worker counts as lost
  JoinWatch join_watch;
  bool in_process = false;  // workers are in this process, so messages arrive almost at once
  bool force = false;
  bool always_measure_clocks = false;  // even if boot ids are equal; for tests
  CoordClock clock = CoordNow;         // or a test clock
  bool dry_run = false;                // stop after all checks
  std::string out_directory;  // for results; created when all checks have passed; empty: save nothing
};

// Use each object only once. The transport, observer and interrupt must outlive it.
class Conductor {
 public:
  Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
            const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options);

  // Conducts the run and returns the exit code. The report is saved in out_directory; report() has it with briefs of
  // its phases (coordinator/analysis/brief.h). If the run is refused (plan does not fit these hosts, versions differ
  // …), the code is kExitUsage, and refusal() has a one-line reason.
  int Run();
  const v1::RunReport& report() const { return report_.report(); }
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
  v1::Plan plan_;  // constant after the workers have joined
  const ConductorOptions options_;
  Cluster cluster_;
  std::optional<ResultStore> store_;
  v1::RunRecord record_;
  ReportBuilder report_{record_};
  std::set<uint32_t> broken_files_;
  absl::Status refusal_;
  absl::Status saved_;
  uint64_t bytes_needed_ = 0;
  bool io_failed_ = false;
  bool verification_failed_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_CONDUCTOR_H_

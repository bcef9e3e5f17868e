// One run from beginning to end, as one straight story: gather what workers see, check, claim the data, every phase of
// every repetition, save after each, keep or remove the data.
#ifndef COORDINATOR_CONDUCTOR_H_
#define COORDINATOR_CONDUCTOR_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/transport.h"
#include "coordinator/cluster.h"
#include "coordinator/interrupt.h"
#include "coordinator/report/result_store.h"
#include "coordinator/run_observer.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class ClockSync;
class DataKeeper;
class DataLedger;
class Layout;

// The program's exit codes.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,      // bad usage or plan; nothing was written
  kExitIo = 2,         // I/O or verification failed
  kExitPartial = 3,    // a worker was lost
  kExitThreshold = 4,  // a threshold was missed
  kExitInterrupted = 130,
};

struct ConductorOptions {
  std::string run_name;  // shown, and the name of its directory
  uint64_t run_id = 0;   // of the messages and the manifest
  std::string command;   // as typed
  std::string version;
  uint32_t worker_count = 1;
  CoordTime join_deadline{INT64_MAX};
  int64_t lost_after_ns = Cluster::kUsualLostAfterNs;  // of a worker that does not answer
  JoinWatch join_watch;
  bool in_process = false;  // the workers are: no message is on its way for long
  bool force = false;
  bool always_measure_clocks = false;  // also where boot ids are equal; tests
  CoordClock clock = CoordNow;         // or a test's
  bool dry_run = false;                // everything up to the checks; then stop
  std::string out_directory;  // of the results, made when all checks have passed; empty: nothing is saved
};

// Used once. The transport, observer and interrupt must outlive it.
class Conductor {
 public:
  Conductor(Transport& transport, RunObserver& observer, const Interrupt& interrupt,
            const v1::WorkerFacts& coordinator, v1::Plan plan, ConductorOptions options);

  // The exit code; the report is in out_directory and, with briefs of its phases (coordinator/analysis/brief.h), in
  // report(). A refusal (bad plan for these hosts, wrong versions …) is kExitUsage with refusal() saying why in one
  // line.
  int Run();
  const v1::RunReport& report() const { return report_; }
  const v1::RunRecord& record() const { return record_; }
  const absl::Status& refusal() const { return refusal_; }
  // Whether everything could be written into out_directory; else the first failure.
  const absl::Status& saved() const { return saved_; }
  uint64_t bytes_needed() const { return bytes_needed_; }  // of the data on all file systems together

 private:
  void UseWorkersPaths();
  int Refuse(absl::Status why);
  absl::Status RunPhases(DataKeeper& data, DataLedger& ledger, ClockSync& clocks, const Layout& layout);
  absl::Status FinishPhase(v1::PhaseRecord& record);
  absl::Status SaveReport();
  void NoteBrokenFiles(const v1::PhaseRecord& record, const Layout& layout);
  void NoteProblem(const absl::Status& status);
  int Verdict(const absl::Status& status) const;

  const Interrupt& interrupt_;
  RunObserver& observer_;
  v1::Plan plan_;  // not changed any more once the workers have joined
  const ConductorOptions options_;
  Cluster cluster_;
  std::optional<ResultStore> store_;
  v1::RunRecord record_;
  v1::RunReport report_;
  std::set<uint32_t> broken_files_;
  absl::Status refusal_;
  absl::Status saved_;
  uint64_t bytes_needed_ = 0;
  bool io_failed_ = false;
  bool verification_failed_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCTOR_H_

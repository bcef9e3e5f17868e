// Who takes part in a run: waits for workers, measures their clocks, resolves the plan for them, looks at what each of
// them sees at its paths, and judges who can take part.
#ifndef COORDINATOR_ASSEMBLE_ASSEMBLY_H_
#define COORDINATOR_ASSEMBLE_ASSEMBLY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight.h"
#include "coordinator/conduct/data/data_keeper.h"
#include "coordinator/saved_run/resume_point.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What a client with a fault means for the others.
enum class OnFault {
  kRefuse,    // the run is refused
  kLeaveOut,  // the run goes on without this client (--skip-bad)
  kList       // nothing: the list of all faults is what is asked for, and workers that do not join are on it
};

struct AssemblyOptions {
  // This program's version; workers of another one are refused.
  std::string version;
  uint32_t worker_count = 1;  // the run begins when this many have joined
  CoordTime join_deadline{INT64_MAX};
  JoinWatch join_watch;
  // The saved run that goes on with these workers, whose name, command, label and raw files are kept; nullopt: a new run.
  // REQUIRES: its plan is the run's, and its directory is the one where results are saved.
  std::optional<ResumePoint> resume;
  // --force: replaces an earlier result and the data of a crashed run, and goes on if space is short or clients see
  // different file systems.
  bool force = false;
  OnFault on_fault = OnFault::kRefuse;
  // Workers may write check files, which they remove. Otherwise only what the mounts show is known (--dry-run).
  bool writes_check_files = true;
  int64_t share_wait_ns = 5 * kNanosPerSecond;  // how long a file may take to appear on another client
  uint32_t least_lanes_per_worker = 0;  // of phases that are added later; 0: no fewer than the plan's phases
  bool always_measure_clocks = false;   // even if boot ids are equal; for tests
  size_t max_burst_clocks = ClockSync::kMaxBurstClocks;  // less only in tests
};

// What is known of the workers and their clients. Later members refer to earlier ones.
struct Look {
  std::optional<ClockSync> clocks;
  std::optional<Layout> layout;
  std::optional<DataKeeper> data;
};

// Use each object once: Assemble, or Gather, then InspectWorkers, then DecideAboutData, each if the one before succeeded.
// All that it is given must outlive it and what it returns. The cluster's roster is that of the workers that take part.
class Assembly {
 public:
  // `coordinator`: the facts of this process. `plan`: as asked for; InspectWorkers resolves it for the workers.
  Assembly(Cluster& cluster, const AssemblyOptions& options, const v1::WorkerFacts& coordinator, v1::Plan& plan)
      : cluster_(cluster), options_(options), coordinator_(coordinator), asked_(plan), plan_(plan) {}

  // All of it, for a run: the workers that take part and what happens to their data, or why the run is refused.
  absl::StatusOr<std::unique_ptr<Look>> Assemble(RunObserver& observer, const std::string& started_at);
  // Waits for the workers: the errors of Cluster::Gather. REQUIRES: `observer` outlives the inspection.
  absl::Status Gather(RunObserver& observer);
  // Looks at the workers until none that takes part has a fault, or returns why the run is refused. Where workers join by
  // themselves, it waits for others in place of those that are lost meanwhile, or answer what no worker answers.
  // `allows_one_client`: as in ResolveContext. `started_at`: of the run, for the data that it writes.
  absl::StatusOr<std::unique_ptr<Look>> InspectWorkers(const std::string& started_at, bool allows_one_client);
  // Decides what happens to data that is there. With OnFault::kList, what would refuse the run is a finding.
  absl::Status DecideAboutData(Look& look);
  // Sends the workers away, because the run is refused.
  void Refuse(const absl::Status& why);

  const PreflightReport& preflight() const { return preflight_; }
  // The clients that were left out (OnFault::kLeaveOut).
  const std::vector<v1::LeftOutClient>& left_out() const { return left_out_; }
  double join_s() const { return join_s_; }  // until all workers had joined
  // The exit code of a command that ends because Assemble, or a part of it, has failed: kExitPartial if workers have not
  // joined, or one was lost.
  int ExitOfRefusal(const Interrupt& interrupt) const;

 private:
  // Whether other workers may come and take the seats of those that are lost before the first phase.
  bool RefillsSeats() const;
  void DropImpossibleClocks(const ClockSync& clocks);
  absl::StatusOr<std::unique_ptr<Look>> InspectOnce(const std::string& started_at, bool allows_one_client, uint32_t pass);
  bool Lists() const { return options_.on_fault == OnFault::kList; }
  bool LeavesOut() const { return options_.on_fault == OnFault::kLeaveOut; }
  void AddAbsent();
  absl::Status CheckStorage(Look& look, uint32_t pass);
  void FindFaults(const Look& look);  // sets preflight_
  // The clients of these workers, with their problems. All workers of a client leave together.
  std::vector<v1::LeftOutClient> ClientsToLeaveOut(const std::set<uint32_t>& workers) const;
  // Or returns why the run cannot go on without them.
  absl::Status LeaveOut(std::vector<v1::LeftOutClient> clients);

  Cluster& cluster_;
  const AssemblyOptions& options_;
  RunObserver* observer_ = nullptr;  // set by Gather
  const v1::WorkerFacts& coordinator_;
  const v1::Plan asked_;
  v1::Plan& plan_;
  std::vector<JoinFault> join_faults_;
  std::vector<StorageSights> storage_;
  PreflightReport preflight_;
  std::vector<v1::LeftOutClient> left_out_;
  double join_s_ = 0;
  bool all_joined_ = false;
};

}  // namespace iobench

#endif  // COORDINATOR_ASSEMBLE_ASSEMBLY_H_

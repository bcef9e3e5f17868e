// Manages a run's data directories on every file system that it uses: checks before anything is written, then claims,
// keeps or removes them. One worker per file system performs each step that must happen only once.
#ifndef COORDINATOR_CONDUCT_DATA_DATA_KEEPER_H_
#define COORDINATOR_CONDUCT_DATA_DATA_KEEPER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/roster/filesystem.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/storage_check.h"
#include "coordinator/conduct/data/client_steps.h"
#include "coordinator/conduct/data/data_decision.h"
#include "coordinator/conduct/data/data_ledger.h"
#include "coordinator/saved_run/run_part.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One object per run, used on the cluster's thread: Inspect, Decide, Claim, the phases, Finish. A worker's problem is
// returned with its own code and the client's name. If a worker that acts for a file system is lost, its step fails
// with Unavailable and the next step goes to another worker that sees this file system. Filling a file system is in
// data_filling.cc.
class DataKeeper {
 public:
  // `cluster`, `plan` and `layout` must outlive it. `created_at`, `created_by` (a time and a host, for display) and the
  // plan go into the manifest. `part`: what is run now, of a run that is resumed.
  DataKeeper(Cluster& cluster, const v1::Plan& plan, const Layout& layout, std::string created_at,
             std::string created_by, RunPart part = {});

  // Asks every worker what it sees at the targets that it uses, and whether it has what the plan needs of its client
  // (client_demands.h). Changes nothing. What is missing is in unmet(), and facts() lack the targets of a worker that
  // was lost. Errors: those of Cluster::Call.
  absl::Status Inspect();
  // By worker number: everything that it lacks, and what it may use.
  const std::vector<std::vector<absl::Status>>& unmet() const { return unmet_; }
  const std::vector<v1::WorkerLimits>& limits() const { return limits_; }
  // Takes over what check files have shown (storage_check.h): which workers see the same storage.
  void SetStorageSights(std::span<const StorageSights> sights) { SetStorage(sights, facts_); }
  // Decides what to do about existing data, and prints the decision's notes on stderr. Changes nothing. Errors: those
  // of DecideAboutData, which describes `earlier_runs` too. REQUIRES: Inspect succeeded and no worker was lost.
  absl::Status Decide(bool force, std::span<const uint64_t> earlier_runs = {});
  // What Inspect found, indexed by worker number. If Inspect failed, only what workers had answered by then.
  const std::vector<v1::WorkerTargets>& facts() const { return facts_; }
  const DataDecision& decision() const { return decision_; }

  // Creates the data directories, or takes over kept ones; does nothing if the plan uses no files. If it fails, some
  // may exist, and Finish removes them. REQUIRES: Decide succeeded.
  absl::Status Claim();
  // Has all workers fill every file system that they use until `percent` of it is in use, as df shows it; one that is
  // fuller is left. Two workers that see the same file system fill it once. Calls `on_begin` with the bytes to write
  // before anything is written, and adds the workers' part to `steps`. Blocks until it is done; after an interrupt or
  // an error, workers have stopped, and Finish removes what they wrote. Errors: those of Cluster::Call, and the first
  // problem of a worker: ResourceExhausted if a quota or the file system has no room. REQUIRES: Claim succeeded; no
  // worker is in a phase.
  absl::Status Fill(uint32_t percent, const std::function<void(uint64_t bytes)>& on_begin,
                    StepsOfWorkers& steps);
  // Removes the shared files, where there are any, on every file system of these targets. Call it before a phase that
  // creates them anew (files_of_owner.h).
  absl::Status RemoveSharedFiles(const std::set<uint32_t>& targets);
  // Ends the run, also after an interrupt: removes the data, or marks it as kept with its contents as recorded in
  // `ledger`. Does nothing if Claim was never called. The error says which data is left and how to remove it.
  enum class AtEnd { kRemove, kKeep };
  absl::Status Finish(AtEnd at_end, const DataLedger& ledger);
  // Gives a Prepare the targets that the worker uses, its own and those of its lanes, each with the run whose data it
  // must find there (run_id 0: none), and numbers the lanes' targets among them. Lets a phase that was begun before
  // replace its traces.
  void AddTargets(const Member& member, v1::Prepare& prepare) const;
  // Returns the directories and clients with kept data, and how to remove it, for display.
  std::string WhereKept() const;

 private:
  struct FillPlace;
  std::map<FilesystemId, FillPlace> FillPlaces() const;
  absl::Status ReadSpace(std::map<FilesystemId, FillPlace>& places);
  v1::FillSpace FillRequest(const Member& member, uint32_t percent) const;
  // By worker: what each of them writes now.
  std::map<uint32_t, v1::FillSpace> FillRequests(uint32_t percent,
                                                 const std::map<FilesystemId, FillPlace>& places) const;
  absl::Status FillOnce(uint32_t percent, const std::map<FilesystemId, FillPlace>& places,
                        std::map<uint32_t, v1::StepResult>& done);
  static std::string FillOutcome(const FillPlace& place, double percent_before, uint32_t percent);
  absl::Status FindOwners();
  // `asked`: the targets that the answer is about.
  void RecordSeen(const Member& member, const std::set<uint32_t>& asked, const v1::Inspected& answer);
  void AddUnmet(const Member& member, const std::set<uint32_t>& asked, const v1::Demands& demands,
                 const ReceivedEvent& received);
  enum class OnInterrupt { kReturn, kGoOn };
  // `targets`: where the step is performed; null: at all.
  absl::Status Do(v1::DataStep::Action action, OnInterrupt on_interrupt,
                  const std::set<uint32_t>* targets = nullptr);
  void RecordDone(std::span<const FilesystemOfTarget> places, const absl::Status& answer,
                const v1::DataStepDone& done, v1::DataStep::Action action);
  v1::DataClaim ClaimFor(const Member& member, uint32_t target) const;
  std::string WhereLeft() const;
  void CountUsers();
  int64_t StallAtEndNs() const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  const RunPart part_;
  v1::Manifest manifest_;
  std::vector<v1::WorkerTargets> facts_;
  // The workers that work on a file system at a target, except those that end with the coordinator.
  std::map<FilesystemOfTarget, uint32_t> users_;
  std::vector<std::vector<absl::Status>> unmet_;
  std::vector<v1::WorkerLimits> limits_;
  DataDecision decision_;
  // There may be data of this run to remove.
  bool claimed_ = false;
  std::map<FilesystemOfTarget, uint32_t> claimers_;  // by file system: the worker that claims it
  // The run whose data was there before this run, and the one whose data must be there since Claim. A worker touches a
  // data directory only if it still belongs to that run, so that two runs never remove each other's data.
  std::map<FilesystemOfTarget, v1::DataClaim> found_;
  std::map<FilesystemOfTarget, v1::DataClaim> held_;
  uint32_t filled_percent_ = 0;        // largest of Fill
  std::set<uint32_t> avoided_;         // workers whose last step failed
  std::set<FilesystemOfTarget> done_;  // completed by the last Do, or there is nothing left to do
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_DATA_KEEPER_H_

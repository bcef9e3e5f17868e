// Manages a run's data directories on every file system that it uses: checks before anything is written, then claims,
// keeps or removes them. One worker per file system performs each step that must happen only once.
#ifndef COORDINATOR_RUN_DATA_KEEPER_H_
#define COORDINATOR_RUN_DATA_KEEPER_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "coordinator/run/data_decision.h"
#include "coordinator/run/data_ledger.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// One object per run, used on the cluster's thread: Inspect, Decide, Claim, the phases, Finish. A worker's problem is
// returned with its own code and the client's name. If a worker that acts for a file system is lost, its step fails
// with Unavailable and the next step goes to another worker that sees this file system.
class DataKeeper {
 public:
  // `cluster`, `plan` and `layout` must outlive it. `created_at`, `created_by` (a time and a host, for display) and the
  // plan go into the manifest.
  DataKeeper(Cluster& cluster, const v1::Plan& plan, const Layout& layout, std::string created_at,
             std::string created_by);

  // Asks every worker what it sees at the targets, and whether it has what the plan needs of its client
  // (client_demands.h). Changes nothing. InvalidArgument: something is missing. Unavailable: a worker was lost.
  // Otherwise the errors of Cluster::Call.
  absl::Status Inspect();
  // Decides what to do about existing data, and prints the decision's notes on stderr. Changes nothing. Errors: those
  // of DecideAboutData. REQUIRES: Inspect succeeded.
  absl::Status Decide(bool force);
  // What Inspect found, indexed by worker number, its targets by target. If Inspect failed, it has what the workers
  // answered until then.
  const std::vector<v1::WorkerTargets>& facts() const { return facts_; }
  const DataDecision& decision() const { return decision_; }

  // Creates the data directories, or takes over kept ones; does nothing if the plan uses no files. If it fails, some
  // may exist, and Finish removes them. REQUIRES: Decide succeeded.
  absl::Status Claim();
  // Removes the shared file, if there is one, on every file system. Call it before a phase that rewrites it.
  absl::Status RemoveSharedFiles();
  // Ends the run, also after an interrupt: removes the data, or marks it as kept with its contents as recorded in
  // `ledger`. Does nothing if Claim was never called. The error says which data is left and how to remove it.
  enum class AtEnd { kRemove, kKeep };
  absl::Status Finish(AtEnd at_end, const DataLedger& ledger);
  // Returns, for each target, the run whose data this worker must find there; run_id is 0 where the run has none.
  std::vector<v1::DataClaim> ClaimsFor(const Member& member) const;
  // Returns the directories and clients with kept data, and how to remove it, for display.
  std::string WhereKept() const;

 private:
  enum class OnInterrupt { kReturn, kGoOn };
  absl::Status Do(v1::DataStep::Action action, OnInterrupt on_interrupt);
  void NoteDone(std::span<const FilesystemOfTarget> places, const absl::Status& answer,
                const v1::DataStepDone& done, v1::DataStep::Action action);
  std::string WhereLeft() const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  v1::Manifest manifest_;
  std::vector<v1::WorkerTargets> facts_;
  DataDecision decision_;
  // There may be data of this run to remove.
  bool claimed_ = false;
  std::map<FilesystemOfTarget, uint32_t> claimers_;  // by file system: the worker that claims it
  // Whose data there were before this run, and whose there must be since Claim. A worker touches a data directory only
  // if it still belongs to that run, so that two runs never remove each other's data.
  std::map<FilesystemOfTarget, v1::DataClaim> found_;
  std::map<FilesystemOfTarget, v1::DataClaim> held_;
  std::set<FilesystemOfTarget> done_;  // completed by the last Do, or there is nothing left to do
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_DATA_KEEPER_H_

// Looks after the data directories of a run on every file system it uses: checks before anything is written, claims,
// keeps or removes. One worker per file system does what must be done once.
#ifndef COORDINATOR_DATA_KEEPER_H_
#define COORDINATOR_DATA_KEEPER_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster.h"
#include "coordinator/data_decision.h"
#include "coordinator/data_ledger.h"
#include "coordinator/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class DataKeeper {
 public:
  // All must outlive it. `run_id` and `plan` go into the manifest.
  DataKeeper(Cluster& cluster, const v1::Plan& plan, const Layout& layout, std::string created_at,
             std::string created_by);

  // Asks every worker what it sees. Changes nothing.
  absl::Status Inspect();
  absl::Status Decide(bool force);
  const std::vector<v1::WorkerTargets>& facts() const { return facts_; }
  const DataDecision& decision() const { return decision_; }

  // Makes the data directories (or takes over kept ones). REQUIRES: Decide was OK.
  absl::Status Claim();
  // Before a phase that writes a shared file anew.
  absl::Status RemoveSharedFiles();
  // At the end: marks the data as kept, and as what `ledger` says they hold, or removes them. Also after an interrupt.
  // Nothing where Claim never ran. An error says which data are left, and how to remove them.
  absl::Status Finish(bool keep, const DataLedger& ledger);
  // Whose data this worker is to find at each target (index = target); run_id 0 where the run has none.
  std::vector<v1::DataClaim> ClaimsFor(const Member& member) const;
  // Which directories on which clients, and how to remove them; for people.
  std::string WhereKept() const;

 private:
  absl::Status Do(v1::DataStep::Action action, bool interruptible);
  void NoteDone(std::span<const FilesystemOfTarget> places, const absl::Status& answer,
                const v1::DataStepDone& done, v1::DataStep::Action action);
  std::string WhereLeft() const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  v1::Manifest manifest_;
  std::vector<v1::WorkerTargets> facts_;
  DataDecision decision_;
  bool claimed_ = false;
  std::map<FilesystemOfTarget, uint32_t> claimers_;    // and by which worker
  std::map<FilesystemOfTarget, v1::DataClaim> found_;  // by Inspect
  std::map<FilesystemOfTarget, v1::DataClaim> held_;   // from Claim on
  std::set<FilesystemOfTarget> done_;                  // by the last Do, or nothing is left to do
};

}  // namespace iobench

#endif  // COORDINATOR_DATA_KEEPER_H_

// Looks after the data directories of a run on every file system it uses: checks before anything is written, claims,
// keeps or removes. One worker per file system does what must be done once.
#ifndef COORDINATOR_DATA_KEEPER_H_
#define COORDINATOR_DATA_KEEPER_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster.h"
#include "coordinator/data_ledger.h"
#include "coordinator/layout.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What the targets turn out to hold, and what the run does about it.
struct DataDecision {
  bool uses_files = true;          // false: null engine only
  bool uses_kept_data = false;     // no phase writes new files, and matching data are there
  v1::Manifest kept;               // uses_kept_data: what they say of themselves
  bool removes_old_data = false;   // kept data of another layout, or (--force) of a run that crashed
  uint64_t bytes_needed = 0;       // on all file systems together
  std::vector<std::string> notes;  // what the user should know of it
};

// Pure: judges what every worker saw. `facts` index: worker number; an entry's targets index: target.
// InvalidArgument and FailedPrecondition: one line with client, path and what to do.
absl::StatusOr<DataDecision> DecideAboutData(const v1::Plan& plan, const Layout& layout,
                                             std::span<const Member> members,
                                             std::span<const v1::WorkerTargets> facts,
                                             const v1::Manifest& ours, bool force);

// Pure: whether a worker can read those of the user's files that its lanes are to read. `seen` index: file.
// InvalidArgument names client and file.
absl::Status CheckExistingFiles(const v1::Plan& plan, const Member& member,
                                const google::protobuf::RepeatedPtrField<v1::ExistingFile>& seen);

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
  // Which directories on which clients, and how to remove them; for people.
  std::string WhereKept() const;

 private:
  using FilesystemOfTarget = std::pair<uint32_t, std::string>;

  absl::Status Do(v1::DataStep::Action action, bool interruptible);
  std::string WhereLeft() const;

  Cluster& cluster_;
  const v1::Plan& plan_;
  const Layout& layout_;
  v1::Manifest manifest_;
  std::vector<v1::WorkerTargets> facts_;
  DataDecision decision_;
  bool claimed_ = false;
  std::map<FilesystemOfTarget, uint32_t> claims_;  // and by which worker
  std::set<FilesystemOfTarget> done_;              // by the last Do
};

}  // namespace iobench

#endif  // COORDINATOR_DATA_KEEPER_H_

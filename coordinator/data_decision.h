// What a run does about the data that its targets turn out to hold: pure judgement of what every worker saw.
#ifndef COORDINATOR_DATA_DECISION_H_
#define COORDINATOR_DATA_DECISION_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster.h"
#include "coordinator/layout.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

using FilesystemOfTarget = std::pair<uint32_t, std::string>;

// One worker for each file system behind each target: who claims and removes. Only where lanes own files.
std::map<FilesystemOfTarget, uint32_t> Claimers(const Layout& layout, std::span<const Member> members,
                                                std::span<const v1::WorkerTargets> facts);

// "node1: /mnt/nfs/cluster-iobench.data", for people.
std::string DataAt(const Member& member, const v1::Target& target);

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

}  // namespace iobench

#endif  // COORDINATOR_DATA_DECISION_H_

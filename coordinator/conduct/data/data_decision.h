// Decides what a run does about the data that exists at its targets: from what every worker saw, and from the processes
// of this host.
#ifndef COORDINATOR_CONDUCT_DATA_DATA_DECISION_H_
#define COORDINATOR_CONDUCT_DATA_DATA_DECISION_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/roster/filesystem.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A data directory: the index of its target, and the file system that the target is on. Clients of
// one target may see different file systems, each with a data directory of its own.
using FilesystemOfTarget = std::pair<uint32_t, FilesystemId>;

// Selects one worker for each file system of each target, to claim and remove the data there: the first one that is not
// lost, so that another takes over if it is. Only targets where lanes own files. `facts` is indexed by worker number.
// Workers in `avoided` are selected only where there is no other.
std::map<FilesystemOfTarget, uint32_t> Claimers(const Layout& layout, std::span<const Member> members,
                                                std::span<const v1::WorkerTargets> facts,
                                                const std::set<uint32_t>& avoided = {});

// Return display names: "node1: /mnt/nfs" and "node1: /mnt/nfs/cluster-iobench.data".
std::string TargetAt(const Member& member, const v1::Target& target);
std::string DataAt(const Member& member, const v1::Target& target);

// Returns the boot id of the host that a manifest names ("BOOT-ID NAMESPACE" of ProcessIdentity); empty: none.
std::string BootOf(const std::string& place);

// True if the run creates files or trees, instead of reading what an earlier one has kept.
bool CreatesData(const v1::Plan& plan);

// How much every lane has of the data that a manifest describes; files may have grown beyond what the run asked for. 0:
// trees alone.
uint64_t KeptBytesPerLane(const v1::Manifest& manifest);
// The size of these data on one file system: the lanes' files at their full size, spread evenly over the targets. Trees
// are not counted.
uint64_t DataBytesOf(const v1::Manifest& manifest);

// What the run does about existing data at its targets.
struct DataDecision {
  bool uses_files = true;          // false: only the null engine is used
  bool uses_kept_data = false;     // no phase creates files, and matching data exists
  v1::Manifest kept;               // with uses_kept_data: manifest of the kept data
  bool removes_old_data = false;   // kept data with another layout, or (with --force) data of a crashed run
  uint64_t bytes_needed = 0;       // total on all file systems
  std::vector<std::string> notes;  // what the user should know about it
};

// Decides from what every worker saw. `facts` is indexed by worker number. InvalidArgument or FailedPrecondition: one
// line with client, path and what to do. `earlier_runs`: run ids of the earlier parts of a run that is resumed, whose
// data are replaced without a question. Pure, except that it looks whether the coordinator of a run that left data is
// still running on this host.
absl::StatusOr<DataDecision> DecideAboutData(const v1::Plan& plan, const Layout& layout,
                                             std::span<const Member> members,
                                             std::span<const v1::WorkerTargets> facts,
                                             const v1::Manifest& ours, bool force,
                                             std::span<const uint64_t> earlier_runs = {});

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_DATA_DECISION_H_

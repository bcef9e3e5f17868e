// What this process does for a coordinator: the paths it opens, the actions it performs, the limits it keeps.
#ifndef WORKER_RIGHTS_WORKER_RIGHTS_H_
#define WORKER_RIGHTS_WORKER_RIGHTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/rights/allowed_paths.h"

namespace iobench {

// Actions that concern more than the files below a worker's roots.
enum class WorkerAction {
  kRemount,     // -U: unmount and mount again
  kLogFiles,    // -Q, -X: files besides the data, which stay after the run
  kDropCaches,  // --drop-caches: the whole host's caches, as root
  kStripe       // --stripe: runs Lustre's `lfs` on a path
};

// Plain values. The defaults are those of a worker whose plan comes from its own user: the process that was given the
// plan, an MPI rank, or a process that --spawn started. `worker --join` sets all of them from its own command line.
struct WorkerRights {
  AllowedPaths paths;
  std::set<WorkerAction> actions = {WorkerAction::kRemount, WorkerAction::kLogFiles,
                                    WorkerAction::kDropCaches, WorkerAction::kStripe};
  // The worker's own command line names remount, so --cold may remount unasked where dropping caches is not enough.
  bool remounts_for_cold = false;
  // Where -Q writes its files; empty: in the current directory.
  std::string log_directory;
  // The only host that it connects to for network tests; empty: any that the coordinator names.
  std::string coordinator_host;
  // Existing files may be compared with a byte pattern (-V), which reveals what they contain.
  bool may_compare_existing_files = true;
  uint32_t max_lanes = kDefaultMaxLanes;
  // For the lanes of a phase; 0: what is available when the phase is prepared.
  uint64_t max_memory_bytes = 0;

  static constexpr uint32_t kDefaultMaxLanes = 4096;
};

// The rights of this process. Every function that a coordinator's request reaches checks them; a process has only one
// set, as it has one user and one root directory. Call SetWorkerRights before the worker joins (tests: also between
// workers).
const WorkerRights& RightsOfThisWorker();
void SetWorkerRights(WorkerRights rights);

// PermissionDenied: this worker's command line does not allow the action; the message says what to type.
absl::Status CheckAllowed(WorkerAction action);

// Parses the words of `worker --allow`: remount, log-files, drop-caches, stripe, separated by commas. InvalidArgument:
// another word.
absl::StatusOr<std::set<WorkerAction>> WorkerActionsFrom(const std::string& words);
const char* NameOf(WorkerAction action);

}  // namespace iobench

#endif  // WORKER_RIGHTS_WORKER_RIGHTS_H_

// Prepares a lane's part of a tree, untimed, and removes trees together with the data.
#ifndef WORKER_METADATA_TREE_KEEPER_H_
#define WORKER_METADATA_TREE_KEEPER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/loop/lane_context.h"
#include "worker/metadata/metadata_work.h"

namespace iobench {

// What PrepareTree did, for the report.
struct TreePrepared {
  uint64_t made = 0;     // items with missing parts that were created
  uint64_t removed = 0;  // items with parts that were in the way
  uint64_t bytes = 0;    // written to new files
};

// Creates what `work.state` lacks for `work.effect` and removes what is in its way. If nothing needs to change, no item
// is touched, so that this client caches nothing about them. `data_fd`: the data directory, `directory`: its path.
// Errors name the path. FailedPrecondition: something else, such as a symbolic link, is in the place of a new tree or
// of a directory in it. Cancelled: `quit` was set. REQUIRES: a payload as for the engine, if files with data are
// created.
absl::StatusOr<TreePrepared> PrepareTree(int data_fd, const std::string& directory, const MetadataWork& work,
                                         Payload* payload, const StopCell& quit);

// True if PrepareTree will create files that hold data.
bool PreparesData(const MetadataWork& work);

// Removes the tree `name` with everything that has one of our names and is of the matching type. Everything else stays,
// together with its parent directories, and is added to `foreign` (paths below the data directory, at most
// `max_foreign`). Symbolic links are never followed. Returns the number of items removed.
absl::StatusOr<uint64_t> RemoveTree(int data_fd, const std::string& directory, const std::string& name,
                                    size_t max_foreign, std::vector<std::string>& foreign);

}  // namespace iobench

#endif  // WORKER_METADATA_TREE_KEEPER_H_

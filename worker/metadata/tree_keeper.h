// Prepares a lane's part of a tree, untimed, and removes trees when the data go.
#ifndef WORKER_METADATA_TREE_KEEPER_H_
#define WORKER_METADATA_TREE_KEEPER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/lane_context.h"
#include "worker/metadata/metadata_work.h"

namespace iobench {

struct TreePrepared {
  uint64_t made = 0;     // items of which something was missing
  uint64_t removed = 0;  // of which something was in the way
  uint64_t bytes = 0;    // written into new files
};

// What work.state lacks for work.effect is made, what is in the way is removed; where all is as it should be no item is
// touched, so that this client learns nothing about them. `data_fd`: the data directory, `directory` its path. Errors
// name the path. Cancelled when `quit` is set. REQUIRES: a payload where files with data are made, as the engine
// does.
absl::StatusOr<TreePrepared> PrepareTree(int data_fd, const std::string& directory, const MetadataWork& work,
                                         Payload* payload, const StopCell& quit);

// Whether PrepareTree will make files that hold data.
bool PreparesData(const MetadataWork& work);

// Removes the tree `name` with all that has a name of ours and is what the name says; whatever else is in it is
// added to `foreign` (paths below the data directory, at most `most_foreign`) and stays, and so do the directories
// above it. Symbolic links are never followed. Returns how many items were removed.
absl::StatusOr<uint64_t> RemoveTree(int data_fd, const std::string& directory, const std::string& name,
                                    size_t most_foreign, std::vector<std::string>& foreign);

}  // namespace iobench

#endif  // WORKER_METADATA_TREE_KEEPER_H_

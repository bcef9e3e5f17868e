// Whose data it is: claiming a data directory, keeping its data for later runs, and giving it up. `path` is the target,
// an existing directory; the functions may block as long as the file system does.
#ifndef WORKER_DATA_DIRECTORY_DATA_OWNERSHIP_H_
#define WORKER_DATA_DIRECTORY_DATA_OWNERSHIP_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_directory/remove_files.h"

namespace iobench {

// Creates the directory and its manifest, which records this process as the claimant. Succeeds if another worker of the
// same run was first. First removes the data of `replaced`, kept or not (run_id 0: removes nothing).
// FailedPrecondition: data of any other run, foreign files without a manifest, a foreign file or tree with a name that
// this run will use, or, without a mount, a tree of `replaced`. Returns what was removed, and the claim.
absl::StatusOr<std::pair<CleanReport, v1::DataClaim>> ClaimData(const std::string& path,
                                                                const v1::Manifest& manifest,
                                                                const v1::DataClaim& replaced = {});

// Checks, before the data of `claim` are removed to make room for another run, that this can be done here.
// FailedPrecondition: `path` is a URL, and the data include a tree, which only a client with a mount can remove.
absl::Status CheckTreesCanGo(const std::string& path, const v1::DataClaim& claim);

// Makes the manifest account for the files of --fill of the lanes below `lane_count`. Any number of workers may call it
// at the same time. FailedPrecondition: kept data of a version whose manifests do not record names; an error with
// IsHeldByAnother: the data does not belong to `claim`.
absl::Status AccountForFillFiles(const std::string& path, const v1::DataClaim& claim, uint32_t lane_count);

// Gives up data that this process has claimed, so that `clean` and other runs can remove it although this process lives
// on (worker --stay). Does nothing if the data is kept, does not belong to `claim`, or another process claimed it. Must
// not run at the same time as a call that removes the data, because it writes the manifest.
absl::Status DisownData(const std::string& path, const v1::DataClaim& claim);

// Updates the manifest so that the data can be used again, with the contents (data, generations, unit) of `ours`,
// and removes the files of --fill.
// `claim`: the owner of the data. An error with IsHeldByAnother: it now belongs to another run.
absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_OWNERSHIP_H_

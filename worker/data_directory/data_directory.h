// PATH/cluster-iobench.data: the directory with the lanes' files, and the manifest that says which run owns them.
//
// Nothing outside this directory is written or deleted. Inside, only the names that the manifest accounts for
// (data_names.h) are touched; everything else is reported and left, and the directory then stays. Symbolic links are
// never followed: a data directory, manifest or lane file that is one is an error or foreign.
//
// Callers identify the data with a claim: the run's id and the directory's number. If the directory now belongs to
// another run, nothing is touched, and the error says which.
#ifndef WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_
#define WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

struct CleanReport {
  bool found = false;                      // there was a data directory of ours
  uint64_t removed_files = 0;              // data files, without the manifest
  std::vector<std::string> foreign_files;  // not touched: the first 10, with their paths
  std::string why_not_ours;  // why existing data is not ours: it has no readable manifest; otherwise
                             // empty
};

struct DataDirectoryLook {
  std::optional<v1::Manifest> manifest;  // nullopt: no directory, an empty one, or foreign data
  bool foreign = false;                  // the directory is not empty and has no readable manifest of ours
  uint64_t number = 0;                   // of the directory (DirectoryIdentity); 0 also if it does not exist
};

// `path` is the target, an existing directory. All of these functions may block as long as the file system does.

// Inspects the data directory. An error only if it cannot be read or is a symbolic link.
absl::StatusOr<DataDirectoryLook> LookAtData(const std::string& path);
absl::StatusOr<DataDirectoryLook> LookAtDataIn(const Directory& target);

// Opens PATH/cluster-iobench.data. NotFound: it does not exist. FailedPrecondition: a symbolic link or not a directory.
absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path);
// Opens the data directory after a CLAIM by any client, without relying on what this client cached before. Returns an
// error for which IsHeldByAnother is true if the data does not belong to `claim` (run_id 0: any run).
absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path,
                                                                const v1::DataClaim& claim);

// True for a FailedPrecondition that says that the data directory does not belong to the given claim, but to another
// run or none.
bool IsHeldByAnother(const absl::Status& status);

// Creates the directory and its manifest, which records this process as the claimant. Succeeds if another worker of the
// same run was first. First removes the data of `replaced`, kept or not (run_id 0: removes nothing).
// FailedPrecondition: data of any other run, foreign files without a manifest, a foreign file or tree with a name that
// this run will use, or, without a mount, a tree of `replaced`. Returns what was removed, and the claim.
absl::StatusOr<std::pair<CleanReport, v1::DataClaim>> ClaimData(const std::string& path,
                                                                const v1::Manifest& manifest,
                                                                const v1::DataClaim& replaced = {});

// What to do about data if it cannot be seen from here whether its run is still alive.
enum class IfOutOfSight { kRefuse, kAccept };

// Checks data that a run other than `own_run` has claimed and not marked as kept. FailedPrecondition: the run is alive
// on this host (OwnerOf), or it cannot be seen from here and `if_out_of_sight` is kRefuse.
absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, IfOutOfSight if_out_of_sight);

// Checks, before the data of `claim` are removed to make room for another run, that this can be done here.
// FailedPrecondition: `path` is a URL, and the data include a tree, which only a client with a mount can remove.
absl::Status CheckTreesCanGo(const std::string& path, const v1::DataClaim& claim);

// Makes the manifest account for the files of --fill of the lanes below `lane_count`. Any number of workers may call it
// at the same time. FailedPrecondition: kept data of a version whose manifests do not record names; an error with
// IsHeldByAnother: the data does not belong to `claim`.
absl::Status AccountForFillFiles(const std::string& path, const v1::DataClaim& claim, uint32_t lane_count);

// Removes the files of --fill and the marks of workers that have left (orphaned_data.h), and updates the manifest. No
// process owns the other data any more. An error with IsHeldByAnother: the data does not belong to `claim`.
absl::Status RemoveFill(const std::string& path, const v1::DataClaim& claim);

// Gives up data that this process has claimed, so that `clean` and other runs can remove it although this process lives
// on (worker --stay). Does nothing if the data is kept, does not belong to `claim`, or another process claimed it. Must
// not run at the same time as a call that removes the data, because it writes the manifest.
absl::Status DisownData(const std::string& path, const v1::DataClaim& claim);

// Updates the manifest so that the data can be used again, with the contents (data, generations, unit) of `ours`,
// and removes the files of --fill.
// `claim`: the owner of the data. An error with IsHeldByAnother: it now belongs to another run.
absl::Status MarkDataKept(const std::string& path, const v1::Manifest& ours, const v1::DataClaim& claim);

// Removes the files that the manifest accounts for, the manifest, and the directory if it is then empty. An error with
// IsHeldByAnother: the data does not belong to `claim` (run_id 0: any run). Succeeds if there is no directory. If
// foreign files remain, the manifest stays, so that the next call can continue. Safe to run concurrently with other
// calls. Without a manifest of ours, removes only temporary files and an empty directory; the rest is foreign.
absl::StatusOr<CleanReport> RemoveData(const std::string& path, const v1::DataClaim& claim = {});

// RemoveData for what LookAtData has shown. An error with IsHeldByAnother: the data belongs to another run now, also if
// there was none.
absl::StatusOr<CleanReport> RemoveSeenData(const std::string& path, const DataDirectoryLook& seen);

// Removes the shared file, if any. An error with IsHeldByAnother: the data does not belong to `claim`.
absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path, const v1::DataClaim& claim);

// Returns the target for its own path or that of its data directory. InvalidArgument: a malformed URL.
absl::StatusOr<std::string> TargetOf(const std::string& path);

// Implements `cluster-iobench clean`: CheckAbandoned, then RemoveSeenData. `path` may also be the data directory.
absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, IfOutOfSight if_out_of_sight);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_

// The end of the data: by the run that owns it, by another run that replaces it, or by `cluster-iobench clean`. `path`
// is the target, an existing directory; the functions may block as long as the file system does.
#ifndef WORKER_DATA_DIRECTORY_DATA_REMOVAL_H_
#define WORKER_DATA_DIRECTORY_DATA_REMOVAL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/remove_files.h"

namespace iobench {

// What to do about data if it cannot be seen from here whether its run is still alive.
enum class IfOutOfSight { kRefuse, kAccept };

// Checks data that a run other than `own_run` has claimed and not marked as kept. FailedPrecondition: the run is alive
// on this host (OwnerOf), or it cannot be seen from here and `if_out_of_sight` is kRefuse.
absl::Status CheckAbandoned(const std::string& path, uint64_t own_run, IfOutOfSight if_out_of_sight);

// Removes the files that the manifest accounts for, the manifest, and the directory if it is then empty. An error with
// IsHeldByAnother: the data does not belong to `claim` (run_id 0: any run). Succeeds if there is no directory. If
// foreign files remain, the manifest stays, so that the next call can continue. Safe to run concurrently with other
// calls. Without a manifest of ours, removes only temporary files and an empty directory; the rest is foreign.
absl::StatusOr<CleanReport> RemoveData(const std::string& path, const v1::DataClaim& claim = {});

// RemoveData for what InspectData has shown. An error with IsHeldByAnother: the data belongs to another run now, also if
// there was none.
absl::StatusOr<CleanReport> RemoveSeenData(const std::string& path, const DataDirectoryLook& seen);

// Removes the shared file, if any. An error with IsHeldByAnother: the data does not belong to `claim`.
absl::StatusOr<CleanReport> RemoveSharedFile(const std::string& path, const v1::DataClaim& claim);

// Removes the files of --fill and the marks of workers that have left (orphaned_data.h), and updates the manifest. No
// process owns the other data any more. An error with IsHeldByAnother: the data does not belong to `claim`.
absl::Status RemoveFill(const std::string& path, const v1::DataClaim& claim);

// Implements `cluster-iobench clean`: CheckAbandoned, then RemoveSeenData. `path` may also be the data directory.
absl::StatusOr<CleanReport> CleanDataDirectory(const std::string& path, IfOutOfSight if_out_of_sight);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_REMOVAL_H_

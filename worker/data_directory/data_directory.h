// PATH/cluster-iobench.data: the directory with the lanes' files, and the manifest that says which run owns them.
//
// Nothing outside this directory is written or deleted. Inside, only the names that the manifest accounts for
// (data_names.h) are touched; everything else is reported and left, and the directory then stays. Symbolic links are
// never followed: a data directory, manifest or lane file that is one is an error or foreign.
//
// This header finds and opens the directory; data_ownership.h is about whose it is, data_removal.h about its end.
// Callers identify the data with a claim: the run's id and the directory's number. If the directory now belongs to
// another run, nothing is touched, and the error says which.
#ifndef WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_
#define WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"
#include "worker/storage/directory.h"

namespace iobench {

struct DataDirectoryLook {
  std::optional<v1::Manifest> manifest;  // nullopt: no directory, an empty one, or foreign data
  bool foreign = false;                  // the directory is not empty and has no readable manifest of ours
  uint64_t number = 0;                   // of the directory (DirectoryIdentity); 0 also if it does not exist
};

// `path` is the target, an existing directory. All of these functions may block as long as the file system does.

// Inspects the data directory. An error only if it cannot be read or is a symbolic link.
absl::StatusOr<DataDirectoryLook> InspectData(const std::string& path);
absl::StatusOr<DataDirectoryLook> InspectDataIn(const Directory& target);

// Opens PATH/cluster-iobench.data. NotFound: it does not exist. FailedPrecondition: a symbolic link or not a directory.
absl::StatusOr<std::unique_ptr<Directory>> OpenDataDirectory(const std::string& path);
// Opens the data directory after a CLAIM by any client, without relying on what this client cached before. Returns an
// error for which IsHeldByAnother is true if the data does not belong to `claim` (run_id 0: any run).
absl::StatusOr<std::unique_ptr<Directory>> OpenClaimedDirectory(const std::string& path,
                                                                const v1::DataClaim& claim);

// True for a FailedPrecondition that says that the data directory does not belong to the given claim, but to another
// run or none. Defined in claimed_data.cc.
bool IsHeldByAnother(const absl::Status& status);

// Returns the target for its own path or that of its data directory. InvalidArgument: a malformed URL.
absl::StatusOr<std::string> TargetOf(const std::string& path);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_DATA_DIRECTORY_H_

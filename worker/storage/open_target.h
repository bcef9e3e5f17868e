// Opens a target given with --path.
#ifndef WORKER_STORAGE_OPEN_TARGET_H_
#define WORKER_STORAGE_OPEN_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/storage/directory.h"

namespace iobench {

// `path` is a directory or nfs://HOST/PATH. May block as long as the file system does, or, for a URL, as long as
// NfsConnection waits. PermissionDenied: this worker's roots do not cover it. InvalidArgument: a malformed URL.
// Unimplemented: a URL, but this build has no libnfs. Otherwise the errors of LocalDirectory::Open or
// NfsConnection::Connect.
absl::StatusOr<std::unique_ptr<Directory>> OpenTarget(const std::string& path);

}  // namespace iobench

#endif  // WORKER_STORAGE_OPEN_TARGET_H_

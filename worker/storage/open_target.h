// A target as --path names it, opened.
#ifndef WORKER_STORAGE_OPEN_TARGET_H_
#define WORKER_STORAGE_OPEN_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/storage/directory.h"

namespace iobench {

// A directory's path, or nfs://HOST/PATH. Blocks as the file system does; with a URL as NfsConnection waits.
// Unimplemented: a URL, and no libnfs in this build.
absl::StatusOr<std::unique_ptr<Directory>> OpenTarget(const std::string& path);

}  // namespace iobench

#endif  // WORKER_STORAGE_OPEN_TARGET_H_

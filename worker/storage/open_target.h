// A target as --path names it, opened.
#ifndef WORKER_STORAGE_OPEN_TARGET_H_
#define WORKER_STORAGE_OPEN_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/storage/directory.h"

namespace iobench {

// Blocks as the file system does.
absl::StatusOr<std::unique_ptr<Directory>> OpenTarget(const std::string& path);

}  // namespace iobench

#endif  // WORKER_STORAGE_OPEN_TARGET_H_

#include "worker/storage/open_target.h"

#include "worker/storage/local_directory.h"

namespace iobench {

absl::StatusOr<std::unique_ptr<Directory>> OpenTarget(const std::string& path) {
  return LocalDirectory::Open(path);
}

}  // namespace iobench

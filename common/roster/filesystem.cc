#include "common/roster/filesystem.h"

namespace iobench {

FilesystemId FilesystemOf(const v1::TargetFacts& seen) {
  return {.name = seen.filesystem_id(), .boot_id = seen.boot_id(), .clone = seen.clone(), .storage = seen.storage()};
}

void SetFilesystem(const FilesystemId& id, v1::TargetFacts& seen) {
  seen.set_filesystem_id(id.name);
  seen.set_boot_id(id.boot_id);
  seen.set_clone(id.clone);
  seen.set_storage(id.storage);
}

void SetClone(uint32_t clone, v1::TargetFacts& seen) {
  seen.set_clone(IsOfOneHost(seen) ? clone : 0);
}

bool IsOfOneHost(const v1::TargetFacts& seen) {
  return !seen.boot_id().empty();
}

}  // namespace iobench

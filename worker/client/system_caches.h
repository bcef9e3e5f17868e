// The caches of this whole host.
#ifndef WORKER_CLIENT_SYSTEM_CACHES_H_
#define WORKER_CLIENT_SYSTEM_CACHES_H_

#include "absl/status/status.h"

namespace iobench {

// Drops clean pages, names and attributes (/proc/sys/vm/drop_caches). Blocks while the kernel does it. The error has
// only the text for the report: not allowed by this worker's rights, not root, or refused by the kernel.
absl::Status DropSystemCaches();
// Whether this process may do that; the same errors.
absl::Status CheckDropsSystemCaches();

// Writes back what the file system of this directory has in memory (syncfs), because changed names and attributes
// cannot be dropped. Failure does no harm. Blocks as long as the storage needs.
void WriteBack(int directory_fd);
// The same for all file systems of this host.
void WriteBackAll();

}  // namespace iobench

#endif  // WORKER_CLIENT_SYSTEM_CACHES_H_

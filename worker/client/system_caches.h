// The caches of this whole host.
#ifndef WORKER_CLIENT_SYSTEM_CACHES_H_
#define WORKER_CLIENT_SYSTEM_CACHES_H_

#include "absl/status/status.h"

namespace iobench {

// Drops clean pages, names and attributes (/proc/sys/vm/drop_caches). Blocks while the kernel does it. The error has
// only the text for the report: not allowed by this worker's rights, not root, or refused by the kernel.
absl::Status DropSystemCaches();

}  // namespace iobench

#endif  // WORKER_CLIENT_SYSTEM_CACHES_H_

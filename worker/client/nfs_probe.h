// Inspects a target that is not mounted but accessed by its URL.
#ifndef WORKER_CLIENT_NFS_PROBE_H_
#define WORKER_CLIENT_NFS_PROBE_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Like ProbeTarget for a directory; connects and disconnects. If the server does not reply in time, this is a `problem`
// too. Unimplemented: this build has no libnfs.
v1::TargetFacts ProbeNfsTarget(const std::string& url, const std::string& boot_id);

}  // namespace iobench

#endif  // WORKER_CLIENT_NFS_PROBE_H_

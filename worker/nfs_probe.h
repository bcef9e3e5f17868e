// What is at a target that is not mounted here, but reached by its URL.
#ifndef WORKER_NFS_PROBE_H_
#define WORKER_NFS_PROBE_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// As ProbeTarget does it of a directory; connects, and hangs up. What the server does not answer in time is a problem,
// too. Unimplemented: this build has no libnfs.
v1::TargetFacts ProbeNfsTarget(const std::string& url, const std::string& boot_id);

}  // namespace iobench

#endif  // WORKER_NFS_PROBE_H_

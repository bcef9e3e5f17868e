// Identifies the process that claimed the data of a manifest, and whether it is still running.
#ifndef WORKER_DATA_DIRECTORY_CLAIMANT_H_
#define WORKER_DATA_DIRECTORY_CLAIMANT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes this process into the manifest. The boot and the PID namespace (that of a container) identify the host,
// because a pid is meaningful only there.
void SignClaim(v1::Manifest& manifest);

// Returns whether the process that signed the manifest is running on this host. OUT_OF_SIGHT: it belongs to another
// host, boot or container, the manifest is not signed, or the system does not show the process. After a reboot the
// process cannot be running, but only the same host could know that it is the same host, so this is OUT_OF_SIGHT too.
v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_CLAIMANT_H_

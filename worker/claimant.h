// The process behind a manifest: who claimed the data, and whether it still runs.
#ifndef WORKER_CLAIMANT_H_
#define WORKER_CLAIMANT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes this process into the manifest. Its host is told by the boot and by the set of processes (a container's own)
// in which its number means anything.
void SignClaim(v1::Manifest& manifest);

// Whether the process that signed runs on this host. OUT_OF_SIGHT: it is of another host, boot or container, nobody
// signed, or the system does not show it. After a reboot nothing of before runs, but only the same host could know that
// it is the same: that is out of sight too.
v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_CLAIMANT_H_

// Identifies the process that claimed the data of a manifest, and whether it is still running.
#ifndef WORKER_DATA_DIRECTORY_CLAIMANT_H_
#define WORKER_DATA_DIRECTORY_CLAIMANT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes this process into the manifest, with the place of ProcessIdentity as boot_id.
void SignClaim(v1::Manifest& manifest);

// Returns whether the process that signed the manifest is running on this host. OUT_OF_SIGHT: as for StateOf, or the
// manifest is not signed.
v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_CLAIMANT_H_

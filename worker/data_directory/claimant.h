// Identifies the processes that a run's data belong to, and whether they are still running: the one that claimed them,
// and the run's coordinator, which a manifest names too.
#ifndef WORKER_DATA_DIRECTORY_CLAIMANT_H_
#define WORKER_DATA_DIRECTORY_CLAIMANT_H_

#include <cstdint>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes this process into the manifest, with the place of ProcessIdentity as boot_id.
void SignClaim(v1::Manifest& manifest);
// Returns whether SignClaim of this process was the last to write there.
bool IsSignedHere(const v1::Manifest& manifest);
// Makes the process that signed count as ended, although it may serve another run.
void Disown(v1::Manifest& manifest);

// Returns whether the run of the manifest is alive, as far as this host shows. ALIVE: the process that signed it or its
// coordinator is running here. GONE: the coordinator, without which no run goes on, ran here and has ended; if the
// manifest does not name it, the process that signed. A run goes on without the worker that signed, so the end of that
// one alone shows nothing. OUT_OF_SIGHT: as for StateOf, or the manifest names no process.
v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest);
// Returns the pid of the running process: that of the one that signed, if both are. REQUIRES: OwnerOf is ALIVE.
int64_t AlivePidOf(const v1::Manifest& manifest);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_CLAIMANT_H_

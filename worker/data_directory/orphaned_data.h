// Handles a run's data if its coordinator is gone, which alone could tell the workers to remove them.
#ifndef WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_
#define WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Gives up the data of this worker's run at `path`, because it no longer hears from its coordinator. This worker may be
// the only one cut off from a run that continues, so it only puts a mark in the data directory (left-LLLLLL, by `lane`,
// the first of its lanes); the last of `claim.users` workers to do so removes everything, or only the files of --fill
// (`claim.only_fill`). Does nothing if there are no users (the data are to be kept), if the data belong to another run,
// or if they are marked as kept and more than those files would go. REQUIRES: the worker no longer uses the data. May
// block as long as the file system does.
absl::Status LeaveOrphanedData(const std::string& path, const v1::DataClaim& claim, uint32_t lane);
// The same for all targets of a phase. Continues after an error, and returns the first.
absl::Status LeaveOrphanedData(const v1::Prepare& prepare);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_

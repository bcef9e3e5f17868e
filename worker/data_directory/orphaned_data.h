// What becomes of a run's data if its coordinator is gone: nobody else can tell the workers to remove them.
#ifndef WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_
#define WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// A worker leaves the data of its run at `path` because it does not hear from its coordinator. It may be the only one,
// cut off from a run that goes on, so it only puts down a mark in the data directory (left-LLLLLL, by `lane`, the first
// of its lanes); the last of `claim.users` workers to do so removes everything. Does nothing if there are no users (the
// data are to be kept) or if the data belong to another run or are marked as kept. REQUIRES: the worker no longer uses
// the data. May block as long as the file system does.
absl::Status LeaveOrphanedData(const std::string& path, const v1::DataClaim& claim, uint32_t lane);
// The same for all targets of a phase. Goes on after an error, and returns the first.
absl::Status LeaveOrphanedData(const v1::Prepare& prepare);

}  // namespace iobench

#endif  // WORKER_DATA_DIRECTORY_ORPHANED_DATA_H_

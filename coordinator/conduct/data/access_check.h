// Checks that the targets, as every worker sees them, can serve the run: access, logical blocks, space, existing files.
// Pure functions of what every worker saw.
#ifndef COORDINATOR_CONDUCT_DATA_ACCESS_CHECK_H_
#define COORDINATOR_CONDUCT_DATA_ACCESS_CHECK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/preflight.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// `facts` is indexed by worker number, and has what each worker has seen of the targets that its lanes use. Errors have
// one line with client, path and what to do.

// InvalidArgument: a worker cannot use a target; rotated clients see different file systems there; or direct I/O does
// not fit the logical block. A worker is checked only for the targets that its lanes use.
absl::Status CheckAccess(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                         std::span<const v1::WorkerTargets> facts);

// Returns what the lanes need on each file system, and what is free there, counted as below.
std::vector<SpaceNeed> SpaceNeeds(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                                  std::span<const v1::WorkerTargets> facts);

// Returns the bytes that the run needs on all file systems together: on each target of a worker, the largest files that
// each of its lanes has in any phase in which the worker takes part, and all trees if it works on any; and for each file
// system a shared file at its largest. FailedPrecondition: too few are free on one of them,
// counting data that the run replaces as free.
enum class IfTooSmall { kRefuse, kTryAnyway };
absl::StatusOr<uint64_t> CheckSpace(const v1::Plan& plan, const Layout& layout,
                                    std::span<const Member> members, std::span<const v1::WorkerTargets> facts,
                                    IfTooSmall if_too_small);

// Checks that a worker can read the user's files that its lanes will read, and that each is as large as what a lane
// reads. `seen` is indexed by file. InvalidArgument: the message names client and file. Internal: `seen` does not have
// all files.
absl::Status CheckExistingFiles(const v1::Plan& plan, const Member& member,
                                const google::protobuf::RepeatedPtrField<v1::ExistingFile>& seen);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_ACCESS_CHECK_H_

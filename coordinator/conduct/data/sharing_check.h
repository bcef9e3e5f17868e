// Checks that the clients of each target see one file system there, so that totals are meaningful.
#ifndef COORDINATOR_CONDUCT_DATA_SHARING_CHECK_H_
#define COORDINATOR_CONDUCT_DATA_SHARING_CHECK_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// FailedPrecondition: clients see different file systems; the message names them and what each sees. With `force`, adds
// a note instead. If it cannot be determined, adds a note in any case. Only the views of workers whose lanes use the
// target count; with the user's own files, any lane may use any of them. `facts` is indexed by worker number. REQUIRES:
// it has every target that a worker uses. Pure.
absl::Status CheckSharing(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                          std::span<const v1::WorkerTargets> facts, bool force,
                          std::vector<std::string>& notes);

// Assigns one FilesystemId to a file system that clients mount from servers with different names: workers that see the
// same as the first one get its id, so that the data directory there is claimed once. Call it before anything else uses
// `facts`. Pure.
void JoinSameFilesystems(const v1::Plan& plan, std::span<const Member> members,
                         std::span<v1::WorkerTargets> facts);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_SHARING_CHECK_H_

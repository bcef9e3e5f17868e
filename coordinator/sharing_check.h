// Who is really in the total: whether the clients of each target see one file system there.
#ifndef COORDINATOR_SHARING_CHECK_H_
#define COORDINATOR_SHARING_CHECK_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster.h"
#include "coordinator/layout.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Pure. FailedPrecondition names the clients and what each sees; with `force` a note says it instead. `facts` index:
// worker number; an entry's targets index: target.
absl::Status CheckSharing(const v1::Plan& plan, const Layout& layout, std::span<const Member> members,
                          std::span<const v1::WorkerTargets> facts, bool force,
                          std::vector<std::string>& notes);

// One file system that clients mount from servers with different names gets one filesystem_id.
void JoinSameFilesystems(const v1::Plan& plan, std::span<const Member> members,
                         std::span<v1::WorkerTargets> facts);

}  // namespace iobench

#endif  // COORDINATOR_SHARING_CHECK_H_

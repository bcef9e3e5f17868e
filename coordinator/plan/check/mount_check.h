// Checks that engines and targets fit together: some engines work on a directory, others on the URL of an export that
// is not mounted on the client.
#ifndef COORDINATOR_PLAN_CHECK_MOUNT_CHECK_H_
#define COORDINATOR_PLAN_CHECK_MOUNT_CHECK_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: an invalid URL, an engine that does not fit its target, or a step that has no effect without a
// mount. Pure.
absl::Status CheckMounts(const v1::Plan& plan);

// Checks only the steps. `origin` names who requested them, such as "suite smoke". Engines may be unset.
absl::Status CheckSteps(const v1::Plan& plan, std::string_view origin);

// Checks what depends on the number of workers: if there are targets of both kinds, whether each worker's target fits
// its operations.
absl::Status CheckMountsOfWorkers(const v1::Plan& plan, uint32_t worker_count);

// Checks that each target has a worker. With the user's own files, lanes determine the directories in use, so any
// number of workers is accepted.
absl::Status CheckTargetsHaveWorkers(const v1::Plan& plan, uint32_t worker_count);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_MOUNT_CHECK_H_

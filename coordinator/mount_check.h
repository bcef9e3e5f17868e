// Whether engines and targets go together: an engine that works below a directory, and one that takes the URL of an
// export which is not mounted here.
#ifndef COORDINATOR_MOUNT_CHECK_H_
#define COORDINATOR_MOUNT_CHECK_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Pure. InvalidArgument names what is wrong with a URL, the engine and the target that do not fit, or a step that has
// nothing to do without a mount.
absl::Status CheckMounts(const v1::Plan& plan);

// The steps alone; `origin` is who asks for them, as in "suite smoke". Engines may be unset.
absl::Status CheckSteps(const v1::Plan& plan, std::string_view origin);

// What only the number of workers tells: of targets of both kinds, whether each worker's own fits what it does.
absl::Status CheckMountsOfWorkers(const v1::Plan& plan, uint32_t worker_count);

// Whether each target has a worker. With files of the user's own, lanes say which directories are used, and any will do.
absl::Status CheckTargetsHaveWorkers(const v1::Plan& plan, uint32_t worker_count);

}  // namespace iobench

#endif  // COORDINATOR_MOUNT_CHECK_H_

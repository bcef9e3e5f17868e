// Checks what a plan requires on clients besides I/O: mounts and traces.
#ifndef COORDINATOR_PLAN_CHECK_CLIENT_SIDE_CHECK_H_
#define COORDINATOR_PLAN_CHECK_CLIENT_SIDE_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: the message says what to do. REQUIRES: CompletePlan.
absl::Status CheckClientSide(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_CLIENT_SIDE_CHECK_H_

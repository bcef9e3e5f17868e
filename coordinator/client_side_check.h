// What a plan asks of clients beside I/O: mounts, traces.
#ifndef COORDINATOR_CLIENT_SIDE_CHECK_H_
#define COORDINATOR_CLIENT_SIDE_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument says what to do. REQUIRES: CompletePlan.
absl::Status CheckClientSide(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_CLIENT_SIDE_CHECK_H_

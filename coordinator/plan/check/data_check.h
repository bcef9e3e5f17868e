// Defaults and checks for a plan's data, verification and pauses between ops.
#ifndef COORDINATOR_PLAN_CHECK_DATA_CHECK_H_
#define COORDINATOR_PLAN_CHECK_DATA_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fill in the defaults: incompressible data; for -p, the processor cache's size and line.
void CompleteData(v1::DataContent& data);
void CompleteBetween(v1::Between& between);

// InvalidArgument: two settings conflict; the message names both options. REQUIRES: CompletePlan.
absl::Status CheckData(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_DATA_CHECK_H_

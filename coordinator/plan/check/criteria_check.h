// Checks the criteria of a plan (--require) before the run. Pure.
#ifndef COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_
#define COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: a criterion is malformed, applies to no phase of the plan (the message suggests similar names),
// names an operation that is only a part of a phase, or asks metadata operations for bytes/s. If a phase has that name,
// the criterion applies to it alone, not to phases with an operation of that name as a part. REQUIRES: CompletePlan;
// each phase has an assignment.
absl::Status CheckCriteria(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_

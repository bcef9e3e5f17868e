// Checks the criteria of a plan (--require) before the run. Pure.
#ifndef COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_
#define COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: a criterion is malformed, applies to no phase of the plan (the message suggests similar names),
// names an operation that is only a part of a phase, or asks metadata operations for bytes/s. A name of a phase may also
// be that of a part of others, to which the criterion does not apply. REQUIRES: CompletePlan; each phase has an
// assignment.
absl::Status CheckCriteria(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_CRITERIA_CHECK_H_

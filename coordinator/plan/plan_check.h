// Completes a plan and checks it before anything is touched. Pure.
#ifndef COORDINATOR_PLAN_PLAN_CHECK_H_
#define COORDINATOR_PLAN_PLAN_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fills in all defaults of fields that have no value: phase names, engine, stride, read percentage, stonewall kind … Then
// every field has a value, except for those that stay open until more is known. Resets regions that do not apply.
void CompletePlan(v1::Plan& plan);

// InvalidArgument: the plan is invalid; the message names the phase and says what to do. REQUIRES: CompletePlan.
absl::Status CheckPlan(const v1::Plan& plan);

// Checks what depends on the number of workers. InvalidArgument as above.
absl::Status CheckForWorkers(const v1::Plan& plan, uint32_t worker_count);

// Returns STONEWALL_FLUSHED if flushing is part of the result (buffered writes with -c or -e), otherwise
// STONEWALL_RETROACTIVE.
v1::Stonewall DefaultStonewall(const v1::Operation& operation, const v1::TimedRegion& region);
// The same for a phase: flushed if any of its operations is.
v1::Stonewall DefaultStonewall(const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PLAN_CHECK_H_

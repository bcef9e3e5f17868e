// Makes a plan complete and says what is wrong with it, before anything is touched. Pure.
#ifndef COORDINATOR_PLAN_CHECK_H_
#define COORDINATOR_PLAN_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Writes every default out: phase names, engine, stride, read percent, regions that do not apply, the stonewall kind.
void CompletePlan(v1::Plan& plan);

// InvalidArgument, with the phase's name and what to do.
// REQUIRES: CompletePlan.
absl::Status CheckPlan(const v1::Plan& plan);

// What can only be said when it is known how many workers there are. InvalidArgument as above.
absl::Status CheckForWorkers(const v1::Plan& plan, uint32_t worker_count);

// Flushed where flushing belongs to the result: buffered writes with -c or -e. Else retroactive.
v1::Stonewall DefaultStonewall(const v1::Operation& operation, const v1::TimedRegion& region);

bool Writes(const v1::Operation& operation);  // at all
bool CreatesFiles(const v1::Operation& operation);
bool UsesFiles(const v1::Plan& plan);  // false: every engine is "null"

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_H_

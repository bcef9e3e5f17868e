// Which of a plan's targets a worker uses.
#ifndef COMMON_PLAN_TARGETS_H_
#define COMMON_PLAN_TARGETS_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// The index of the first target that selects this worker; where none says who, workers are spread over them. A worker
// that no target selects, though others are selected, is spread, too. REQUIRES: the plan has a target.
uint32_t TargetOfWorker(const v1::Plan& plan, uint32_t worker);

}  // namespace iobench

#endif  // COMMON_PLAN_TARGETS_H_

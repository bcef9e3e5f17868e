// Selects the target of a plan that a worker uses.
#ifndef COMMON_MODEL_PLAN_TARGETS_H_
#define COMMON_MODEL_PLAN_TARGETS_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns the index of the first target that selects this worker. A worker that no target selects is assigned
// round-robin over all targets. REQUIRES: the plan has at least one target.
uint32_t TargetOfWorker(const v1::Plan& plan, uint32_t worker);

}  // namespace iobench

#endif  // COMMON_MODEL_PLAN_TARGETS_H_

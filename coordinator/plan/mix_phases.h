// The phase of a mix (--mix) as the options request it.
#ifndef COORDINATOR_PLAN_MIX_PHASES_H_
#define COORDINATOR_PLAN_MIX_PHASES_H_

#include "absl/status/status.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fills in lanes, sizes and one phase of --mix, whose workers are spread over its assignments when they have joined
// (mix/phase_of_mix.h). Errors of FindMix and PhaseOfMix.
absl::Status ListMix(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_MIX_PHASES_H_

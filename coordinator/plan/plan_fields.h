// Applies options to a plan: to one place, or to every phase that the option applies to.
#ifndef COORDINATOR_PLAN_PLAN_FIELDS_H_
#define COORDINATOR_PLAN_PLAN_FIELDS_H_

#include "absl/status/status.h"
#include "coordinator/options/option.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Applies every given option that sets fields, in the order of the table. With --suite and --mix, some options skip
// operations whose engine does not support them (EngineDemand::in_suite). InvalidArgument: the field does not accept
// the value, or the option applies to no phase or is skipped in all. REQUIRES: the phases exist.
absl::Status SetPlanFields(const GivenOptions& given, v1::Plan& plan);

// True if the option applies to a phase with this operation.
bool IsFor(const OptionSpec& option, const v1::Operation& operation);

// Returns InvalidArgument that names the option and what no phase does. REQUIRES: the option applies to no phase.
absl::Status NoPhaseFor(const OptionSpec& option);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_PLAN_FIELDS_H_

// Writes what an option says into a plan: into the one place, or into every phase that the option is for.
#ifndef COORDINATOR_PLAN_FIELDS_H_
#define COORDINATOR_PLAN_FIELDS_H_

#include "absl/status/status.h"
#include "coordinator/option.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Every given option that sets fields, in the order of the table. REQUIRES: the phases are there. InvalidArgument: the
// value is none of the field's, or no phase is one that the option is for.
// With `where_possible` (suites) -I, -o, -+D and -+r pass over operations whose engine knows nothing of them.
absl::Status SetPlanFields(const GivenOptions& given, bool where_possible, v1::Plan& plan);

// Whether the option says anything to a phase that does this.
bool IsFor(const OptionSpec& option, const v1::Operation& operation);

// InvalidArgument: the option, and what no phase here does. REQUIRES: none is one that it is for.
absl::Status NoPhaseFor(const OptionSpec& option);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_FIELDS_H_

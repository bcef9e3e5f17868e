// Suites: named plans that come with the program (deploy/plans).
#ifndef COORDINATOR_PLAN_SUITE_H_
#define COORDINATOR_PLAN_SUITE_H_

#include "absl/status/statusor.h"
#include "coordinator/options/option.h"
#include "coordinator/plan/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns the plan of --suite, with default values replaced by -s, -r and -t: the plan's own size and lanes, and the
// record size of its first phase wherever it occurs. Values that a phase sets itself stay. A suite without a size gets
// twice this host's memory (Bonnie's rule). NotFound: the message lists the suites.
absl::StatusOr<v1::Plan> LoadSuite(const GivenOptions& given, const PlanContext& context);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_SUITE_H_

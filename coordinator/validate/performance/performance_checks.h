// The checks of performance. All judge the same phases, which the first of them measures (PerformanceOf). Errors: those
// of CheckContext.measure and measure_network that end a validation; a slow file system is a verdict.
#ifndef COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_CHECKS_H_
#define COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_CHECKS_H_

#include "absl/status/status.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

absl::Status CheckClientRates(CheckContext& context, Outcome& outcome);
absl::Status CheckNetworkLimit(CheckContext& context, Outcome& outcome);
absl::Status CheckScaling(CheckContext& context, Outcome& outcome);
absl::Status CheckMetadataRates(CheckContext& context, Outcome& outcome);
absl::Status CheckLatencyTail(CheckContext& context, Outcome& outcome);
absl::Status CheckExpected(CheckContext& context, Outcome& outcome);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_PERFORMANCE_PERFORMANCE_CHECKS_H_

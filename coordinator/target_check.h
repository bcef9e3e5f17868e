// Where data and results may go: never into the data directory of a run, which holds that run's files alone.
#ifndef COORDINATOR_TARGET_CHECK_H_
#define COORDINATOR_TARGET_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument says what to do. Symbolic links are followed as far as this host sees them. REQUIRES: CompletePlan.
absl::Status CheckTargets(const v1::Plan& plan);

// As above, for the directory of the results (--out), which need not exist.
absl::Status CheckOutDirectory(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_TARGET_CHECK_H_

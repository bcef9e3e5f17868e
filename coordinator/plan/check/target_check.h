// Checks where data and results are placed: never in the data directory of a run, which contains only that run's files;
// and that all phases, or none, select their target.
#ifndef COORDINATOR_PLAN_CHECK_TARGET_CHECK_H_
#define COORDINATOR_PLAN_CHECK_TARGET_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: the message says what to do. Symbolic links are followed as far as this host can see them. REQUIRES:
// CompletePlan.
absl::Status CheckTargets(const v1::Plan& plan);

// The same for the result directory (--out), which need not exist.
absl::Status CheckOutDirectory(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_TARGET_CHECK_H_

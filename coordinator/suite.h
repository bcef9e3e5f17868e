// Suites: plans that come with the program (deploy/plans), found by their name.
#ifndef COORDINATOR_SUITE_H_
#define COORDINATOR_SUITE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option.h"
#include "coordinator/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Their names, each with the first line of its comment: `--suite list`. NotFound: there is no directory of plans.
absl::StatusOr<std::string> SuiteList();

// What a suite says that is a list of options ("options: -a") and no plan; empty: it is a plan, or there is none.
absl::StatusOr<std::vector<std::string>> SuiteOptions(const std::string& name);

// The plan of --suite with its usual values replaced by -s, -r and -t: the plan's own size and lanes, and the record of
// its first phase wherever it stands. What a phase says for itself stays. A suite that names no size gets twice the
// memory of this host (Bonnie's rule). NotFound says which suites there are.
absl::StatusOr<v1::Plan> LoadSuite(const GivenOptions& given, const PlanContext& context);

}  // namespace iobench

#endif  // COORDINATOR_SUITE_H_

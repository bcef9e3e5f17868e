// criteria.junit.xml: whether a run did what was asked of it, for CI servers.
#ifndef COORDINATOR_REPORT_JUNIT_CRITERIA_JUNIT_H_
#define COORDINATOR_REPORT_JUNIT_CRITERIA_JUNIT_H_

#include <ostream>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Writes one test suite: the case "run", which fails if the run did not end as planned, and a case per criterion
// (--require), which fails if it is not met or could not be decided. A criterion that is not met fails its own case only.
// DataLoss: not everything was written.
absl::Status WriteCriteriaJunit(const v1::RunReport& report, std::ostream& out);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_JUNIT_CRITERIA_JUNIT_H_

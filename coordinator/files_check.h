// Whether a phase's files can be what the plan says: sizes, lanes, shared and interleaved files, files of the user's.
#ifndef COORDINATOR_FILES_CHECK_H_
#define COORDINATOR_FILES_CHECK_H_

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument says what to do. REQUIRES: CompletePlan.
absl::Status CheckFiles(const v1::Plan& plan, const v1::Phase& phase);

}  // namespace iobench

#endif  // COORDINATOR_FILES_CHECK_H_

// Checks the files of a phase: sizes, lanes, shared and interleaved files, and the user's own files.
#ifndef COORDINATOR_PLAN_CHECK_FILES_CHECK_H_
#define COORDINATOR_PLAN_CHECK_FILES_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument: the message says what to do. REQUIRES: CompletePlan.
absl::Status CheckFiles(const v1::Plan& plan, const v1::Phase& phase);

// Checks that the total size over all lanes of `worker_count` workers is small enough for sums of sizes and offsets not
// to overflow. InvalidArgument if not. REQUIRES: CompletePlan.
absl::Status CheckBytesInAll(const v1::Plan& plan, uint32_t worker_count);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_FILES_CHECK_H_

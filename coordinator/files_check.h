// Whether a phase's files can be what the plan says: sizes, lanes, shared and interleaved files, files of the user's.
#ifndef COORDINATOR_FILES_CHECK_H_
#define COORDINATOR_FILES_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// InvalidArgument says what to do. REQUIRES: CompletePlan.
absl::Status CheckFiles(const v1::Plan& plan, const v1::Phase& phase);

// Whether what all lanes of so many workers have in a phase stays so small that sums of sizes and offsets hold it.
// InvalidArgument. REQUIRES: CompletePlan.
absl::Status CheckBytesInAll(const v1::Plan& plan, uint32_t worker_count);

}  // namespace iobench

#endif  // COORDINATOR_FILES_CHECK_H_

// Validates the parts of a phase. The coordinator checks plans with these functions; a worker checks each request with
// them before it acts. Each returns InvalidArgument with a message for the author of the plan.
#ifndef COMMON_MODEL_PHASE_CHECK_H_
#define COMMON_MODEL_PHASE_CHECK_H_

#include "absl/status/status.h"
#include "common/model/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

inline constexpr uint64_t kLargestRecordBytes = uint64_t{1} << 30;
inline constexpr uint32_t kMaxLanesPerWorker = 4096;

absl::Status CheckStop(const v1::StopRule& stop);
absl::Status CheckBetween(const v1::Between& between);
absl::Status CheckTree(const v1::Tree& tree);  // checks sizes only; the coordinator checks whether they suit the
                                               // operation
absl::Status CheckPercents(const v1::DataContent& data);
absl::Status CheckDepth(uint32_t depth);  // ops in flight per lane
// Also refuses read-only and write-only lanes in operations that do not mix reads and writes.
absl::Status CheckMix(const OperationSpec& spec, const v1::Operation& operation);

// Refuses traces (-X, -Y) of metadata operations, and replaying in operations or files that cannot follow one.
absl::Status CheckTrace(const OperationSpec& spec, const v1::FileLayout& files, const v1::Trace& trace);

}  // namespace iobench

#endif  // COMMON_MODEL_PHASE_CHECK_H_

// What the parts of a phase must hold to, whoever asks for it: the coordinator checks plans by it, and a worker each
// request before it does anything. InvalidArgument, in words for whoever wrote the plan.
#ifndef COMMON_PHASE_CHECK_H_
#define COMMON_PHASE_CHECK_H_

#include "absl/status/status.h"
#include "common/operation.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

inline constexpr uint64_t kLargestRecordBytes = uint64_t{1} << 30;
inline constexpr uint32_t kMostLanesPerWorker = 4096;

absl::Status CheckStop(const v1::StopRule& stop);
absl::Status CheckBetween(const v1::Between& between);
absl::Status CheckTree(const v1::Tree& tree);  // its size; what an operation can do with it is the coordinator's
absl::Status CheckPercents(const v1::DataContent& data);
absl::Status CheckDepth(uint32_t depth);  // ops in flight of a lane
// Lanes that only read or only write are of operations that mix.
absl::Status CheckMix(const OperationSpec& spec, const v1::Operation& operation);

}  // namespace iobench

#endif  // COMMON_PHASE_CHECK_H_

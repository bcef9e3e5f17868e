// Checks whether what a worker reports about itself when it joins is possible.
#ifndef COORDINATOR_CLUSTER_JOIN_CHECK_H_
#define COORDINATOR_CLUSTER_JOIN_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// `version`: the coordinator's. `worker_count`: of the run; positions in a client list go up to it. FailedPrecondition:
// the worker has another version; the message names its host and both versions. InvalidArgument: a text is too long or
// has control characters, or a number is impossible; the message names the field and never contains such a text.
absl::Status CheckFacts(const v1::WorkerFacts& facts, const std::string& version, uint32_t worker_count);

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_JOIN_CHECK_H_

// What a worker asks of a Prepare before it does anything of it.
#ifndef WORKER_PREPARE_CHECK_H_
#define WORKER_PREPARE_CHECK_H_

#include "absl/status/status.h"
#include "common/engine.h"
#include "common/operation.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// A coordinator of ours has checked its plan by the same rules. A worker relies on nobody: what it could not do, or would
// die of, it refuses. InvalidArgument. `spec` and `engine` are those of the request's operation.
absl::Status CheckPrepare(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine);

}  // namespace iobench

#endif  // WORKER_PREPARE_CHECK_H_

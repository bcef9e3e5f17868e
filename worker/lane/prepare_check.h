// Validates a Prepare request before the worker acts on it.
#ifndef WORKER_LANE_PREPARE_CHECK_H_
#define WORKER_LANE_PREPARE_CHECK_H_

#include "absl/status/status.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// A regular coordinator has already checked its plan by the same rules, but a worker does not rely on that: it refuses
// everything that it could not do or that would crash it. Returns InvalidArgument. `spec` and `engine` are those of the
// request's operation.
absl::Status CheckPrepare(const v1::Prepare& prepare, const OperationSpec& spec, const EngineSpec& engine);

}  // namespace iobench

#endif  // WORKER_LANE_PREPARE_CHECK_H_

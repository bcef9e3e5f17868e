// Defaults and checks for engines with a queue.
#ifndef COORDINATOR_PLAN_CHECK_QUEUE_CHECK_H_
#define COORDINATOR_PLAN_CHECK_QUEUE_CHECK_H_

#include "absl/status/status.h"
#include "common/model/engine.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Checks the number of ops in flight. InvalidArgument: settings conflict; the message names them.
absl::Status CheckQueue(const EngineSpec& engine, const v1::Operation& operation);

// Fills in the default depth.
void CompleteQueue(const EngineSpec& engine, v1::Operation& operation);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_CHECK_QUEUE_CHECK_H_

// What a plan may ask of engines with a queue.
#ifndef COORDINATOR_QUEUE_CHECK_H_
#define COORDINATOR_QUEUE_CHECK_H_

#include "absl/status/status.h"
#include "common/engine.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// How many ops may be in flight: InvalidArgument, naming what cannot go together.
absl::Status CheckQueue(const EngineSpec& engine, const v1::Operation& operation);

// Writes the default depth out.
void CompleteQueue(const EngineSpec& engine, v1::Operation& operation);

}  // namespace iobench

#endif  // COORDINATOR_QUEUE_CHECK_H_

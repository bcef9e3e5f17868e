// The null engine: does no I/O and uses no files. It measures the cost of the loop and of the cluster coordination.
#ifndef WORKER_ENGINE_NULL_ENGINE_H_
#define WORKER_ENGINE_NULL_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Every op succeeds at once with all its bytes; Open, Flush and Close do nothing. It can run every operation, metadata
// operations included, so that a plan can be tried without storage, and MeasureLoopNs uses it.
std::unique_ptr<IoEngine> MakeNullEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_NULL_ENGINE_H_

// The null engine: does no I/O and uses no files. It measures the cost of the loop and of the cluster coordination.
#ifndef WORKER_ENGINE_NULL_ENGINE_H_
#define WORKER_ENGINE_NULL_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

std::unique_ptr<IoEngine> MakeNullEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_NULL_ENGINE_H_

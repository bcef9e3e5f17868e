// Moves nothing and touches no file: what is left is the loop itself, and the cluster around it.
#ifndef WORKER_ENGINE_NULL_ENGINE_H_
#define WORKER_ENGINE_NULL_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

std::unique_ptr<IoEngine> MakeNullEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_NULL_ENGINE_H_

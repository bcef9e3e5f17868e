// The simulated engine: transfers nothing; each op takes the time that a model of storage gives.
#ifndef WORKER_ENGINE_SIM_ENGINE_H_
#define WORKER_ENGINE_SIM_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// For demonstrations without storage, and for checking figures against a known truth. All lanes of all workers of a run
// on this host share one simulated server (common/simulated/simulated_server.h). Every op succeeds with all its bytes;
// Flush and Close do nothing. An op ends up to some tens of us late, when the kernel wakes the lane.
std::unique_ptr<IoEngine> MakeSimEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_SIM_ENGINE_H_

// The uring engine: io_uring with up to options.depth reads and writes in flight; each turn of the queue is one system
// call.
#ifndef WORKER_ENGINE_URING_ENGINE_H_
#define WORKER_ENGINE_URING_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Files and buffers are registered with the ring. Call MakeReady, Open, Run and Close on the same thread. MakeReady
// returns PermissionDenied or Unimplemented if the kernel does not permit io_uring; the engine never falls back to
// another one. If the limit on locked memory prevents registering the buffers, ops use them unregistered and Note says
// so. A short transfer fails its op.
std::unique_ptr<IoEngine> MakeUringEngine(const EngineOptions& options);

// Checks whether the kernel permits this process to create a ring. Errors as for MakeReady.
absl::Status CheckUring();

}  // namespace iobench

#endif  // WORKER_ENGINE_URING_ENGINE_H_

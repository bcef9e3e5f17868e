// io_uring: as many reads and writes in flight as the depth says, each turn of the queue one system call.
#ifndef WORKER_ENGINE_URING_ENGINE_H_
#define WORKER_ENGINE_URING_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Files and buffers are registered with the ring. MakeReady, Open, Run and Close on one thread.
// MakeReady: PermissionDenied or Unimplemented where the kernel does not allow io_uring (never another engine in its
// place). Where the limit on locked memory keeps buffers from being registered, ops use them unregistered and Note says
// so. A short transfer fails its op.
std::unique_ptr<IoEngine> MakeUringEngine(const EngineOptions& options);

// Whether the kernel lets this process have a ring at all; errors as MakeReady's.
absl::Status CheckUring();

}  // namespace iobench

#endif  // WORKER_ENGINE_URING_ENGINE_H_

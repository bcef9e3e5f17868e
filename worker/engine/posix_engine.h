// read(2)/write(2) at the file position, or pread(2)/pwrite(2).
#ifndef WORKER_ENGINE_POSIX_ENGINE_H_
#define WORKER_ENGINE_POSIX_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// kStream seeks only where the file position is not already right. A short transfer fails its op; EINTR does not.
std::unique_ptr<IoEngine> MakePosixEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_ENGINE_H_

// POSIX asynchronous I/O: aio_read and aio_write, as many in flight as the depth says.
#ifndef WORKER_ENGINE_POSIX_AIO_ENGINE_H_
#define WORKER_ENGINE_POSIX_AIO_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// A descriptor of each file for each op in flight: depth times the files. With options.copy each op's time has a copy
// between the buffer that is read or written and the lane's. A short transfer fails its op.
std::unique_ptr<IoEngine> MakePosixAioEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_AIO_ENGINE_H_

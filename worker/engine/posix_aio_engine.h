// The posix-aio engine: POSIX asynchronous I/O with aio_read and aio_write, up to options.depth ops in flight.
#ifndef WORKER_ENGINE_POSIX_AIO_ENGINE_H_
#define WORKER_ENGINE_POSIX_AIO_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Opens one descriptor per file and op in flight: depth times the number of files. With options.copy, each op's latency
// includes a copy between the buffer that is read or written and the lane's buffer. A short transfer fails its op.
std::unique_ptr<IoEngine> MakePosixAioEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_AIO_ENGINE_H_

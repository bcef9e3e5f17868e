// The posix engine: read(2)/write(2) at the file position, pread(2)/pwrite(2), or preadv(2)/pwritev(2) with several
// records per call.
#ifndef WORKER_ENGINE_POSIX_ENGINE_H_
#define WORKER_ENGINE_POSIX_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// kStream seeks only if the file position is wrong. An update reads and writes the same range and is timed as one op;
// it writes the lane's own data regardless of what was read. A short transfer fails its op; EINTR does not.
//
// Supported options: record_locks (the op's own range, within its latency, unlocked even if the op fails), file_lock,
// advice, jitter_every (within the latency of the following read; does not change the file position).
std::unique_ptr<IoEngine> MakePosixEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_ENGINE_H_

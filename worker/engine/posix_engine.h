// read(2)/write(2) at the file position, pread(2)/pwrite(2), or preadv(2)/pwritev(2) of several records a call.
#ifndef WORKER_ENGINE_POSIX_ENGINE_H_
#define WORKER_ENGINE_POSIX_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// kStream seeks only where the file position is not already right. An update is a read and a write of the same place,
// timed as one op; its new data are the lane's, whatever was read. A short transfer fails its op; EINTR does not.
//
// Options: record_locks (the op's own range, inside its time, unlocked also when the op fails), file_lock, advice,
// jitter_every (in the time of the read that it comes before; the file position stays).
std::unique_ptr<IoEngine> MakePosixEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_ENGINE_H_

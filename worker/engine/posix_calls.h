// Performs one op with plain system calls. The posix engine's loop uses it, and other engines for ops that they do not
// handle themselves.
#ifndef WORKER_ENGINE_POSIX_CALLS_H_
#define WORKER_ENGINE_POSIX_CALLS_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "common/model/op.h"
#include "worker/data/payload.h"
#include "worker/engine/file_lock.h"
#include "worker/engine/open_files.h"

namespace iobench {

static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "offsets travel in one register");

// Makes a system call without glibc's wrapper and repeats it after EINTR. glibc's wrappers are cancellation points,
// which cost a multi-threaded process two locked instructions per call (about 10 ns, 1 % of a cached 4 KiB read).
// Returns the call's result or -errno.
template <typename... Args>
int64_t CallAgainWhenInterrupted(long number, Args... args) {
  for (;;) {
    const long result = ::syscall(number, args...);
    if (result >= 0) [[likely]]
      return result;
    if (errno != EINTR) return -errno;
  }
}

// Calls pread() or pwrite(), or both for an update. Returns the number of bytes transferred or -errno; fewer bytes than
// the op has are a failure for the loop, so nothing is continued here. `files` is OpenFiles::data(). `payload` and
// `read_buffer` may be null if no op needs them.
struct PositionalCalls {
  const OpenFile* files;
  Payload* payload;
  std::byte* read_buffer;

  int64_t operator()(const Op& op) const {
    const OpenFile& file = files[op.object];
    const uint64_t offset = file.extent_offset_bytes + op.offset;
    const size_t length = op.length;
    if (op.kind != OpKind::kWrite) {
      const int64_t moved = CallAgainWhenInterrupted(SYS_pread64, file.fd, read_buffer, length, offset);
      if (op.kind == OpKind::kRead || moved != static_cast<int64_t>(length)) return moved;
    }
    return CallAgainWhenInterrupted(SYS_pwrite64, file.fd, payload->Next(op), length, offset);
  }
};

// Wraps another op functor: locks exactly the op's bytes, within the op's latency. Unlocks even if the op fails. The
// op's own error is the one returned; an error of the unlock counts only if the op succeeded.
template <typename DoOp>
struct WithRecordLock {
  DoOp do_op;
  const OpenFile* files;

  int64_t operator()(const Op& op) const {
    const OpenFile& file = files[op.object];
    const LockRange range{file.extent_offset_bytes + op.offset, op.length};
    if (const int error = WaitForLock(file.fd, LockFor(op), range); error != 0) return -error;
    const int64_t moved = do_op(op);
    const int error = Unlock(file.fd, range);
    return error != 0 && moved == static_cast<int64_t>(op.length) ? -int64_t{error} : moved;
  }
};

}  // namespace iobench

#endif  // WORKER_ENGINE_POSIX_CALLS_H_

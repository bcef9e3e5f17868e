// One op by plain system calls: what the posix engine's loop is made of, and other engines' where they fall back on it.
#ifndef WORKER_ENGINE_POSIX_CALLS_H_
#define WORKER_ENGINE_POSIX_CALLS_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "common/op.h"
#include "worker/engine/file_lock.h"
#include "worker/engine/open_files.h"
#include "worker/payload.h"

namespace iobench {

static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "offsets travel in one register");

// The calls without glibc's wrappers: those are cancellation points, which cost a process with threads two locked
// instructions per call (about 10 ns, 1 % of a cached 4 KiB read). Returns what the call does, or -errno.
template <typename... Args>
int64_t CallAgainWhenInterrupted(long number, Args... args) {
  for (;;) {
    const long result = ::syscall(number, args...);
    if (result >= 0) [[likely]]
      return result;
    if (errno != EINTR) return -errno;
  }
}

// pread(), pwrite(); an update is both. Bytes moved, or -errno.
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

// Around another way to do an op: a lock on exactly its bytes, inside its time, dropped also when the op has failed.
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

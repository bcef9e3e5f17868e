// fcntl locks that belong to an open file description (F_OFD_…) instead of a process. Lanes of one process therefore
// exclude each other as processes do, and closing another descriptor of the same file does not release a lock. An NFS
// client sends such locks to the server with a separate owner per description, so they also work between clients.
#ifndef WORKER_ENGINE_FILE_LOCK_H_
#define WORKER_ENGINE_FILE_LOCK_H_

#include <cstdint>

#include "common/model/op.h"

namespace iobench {

enum class LockKind { kRead, kWrite };

// The range of a lock. bytes 0: to the end of the file, even if the file grows.
struct LockRange {
  uint64_t offset_bytes = 0;
  uint64_t bytes = 0;
};

// All return 0 or the errno. WaitForLock blocks without a limit until the range is free, even if signals arrive.
int WaitForLock(int fd, LockKind kind, const LockRange& range);
int Unlock(int fd, const LockRange& range);
// As WaitForLock, but EINTR if a signal arrives.
int WaitForLockOnce(int fd, LockKind kind, const LockRange& range);

// True if another open file description has a lock on some of the range. False too if the file system does not say.
bool IsLockedByOthers(int fd, const LockRange& range);

// How long TryToLock waits for a whole file (-W), which another program may hold for any duration.
inline constexpr int64_t kLockPatienceNs = 30'000'000'000;
struct LockAttempt {
  int errno_value = 0;
  int32_t holder_process = 0;
};
// Retries every 5 ms for `patience_ns`, then fails with EAGAIN and the process that holds the lock (0: unknown, for
// example on another client, or a lock of an open file description). errno_value is 0 on success.
LockAttempt TryToLock(int fd, LockKind kind, const LockRange& range, int64_t patience_ns = kLockPatienceNs);

// Returns the lock that an op needs. An update needs the exclusive one from its read on.
inline LockKind LockFor(const Op& op) {
  return op.kind == OpKind::kRead ? LockKind::kRead : LockKind::kWrite;
}

}  // namespace iobench

#endif  // WORKER_ENGINE_FILE_LOCK_H_

// fcntl locks that belong to an open file description (F_OFD_…), not to the process: lanes of one process exclude each
// other like processes do, and closing another descriptor of the same file does not drop them. An NFS client sends
// them to the server under an owner for each description, so that they hold between clients, too.
#ifndef WORKER_ENGINE_FILE_LOCK_H_
#define WORKER_ENGINE_FILE_LOCK_H_

#include <cstdint>

#include "common/op.h"

namespace iobench {

enum class LockKind { kRead, kWrite };

// Where a lock reaches. bytes 0: to the end of the file, wherever that will be.
struct LockRange {
  uint64_t offset_bytes = 0;
  uint64_t bytes = 0;
};

// Each returns 0 or the errno.
int WaitForLock(int fd, LockKind kind, const LockRange& range);  // blocks; goes on after signals
int Unlock(int fd, const LockRange& range);

// Tries again for so long, then EAGAIN with the process that holds it (0: unknown, the lock is another client's).
inline constexpr int64_t kLockPatienceNs = 30'000'000'000;
struct LockAttempt {
  int errno_value = 0;
  int32_t holder_process = 0;
};
LockAttempt TryToLock(int fd, LockKind kind, const LockRange& range, int64_t patience_ns = kLockPatienceNs);

inline LockKind LockFor(const Op& op) {
  return op.kind == OpKind::kRead ? LockKind::kRead : LockKind::kWrite;
}

}  // namespace iobench

#endif  // WORKER_ENGINE_FILE_LOCK_H_

#include "worker/engine/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "common/clock.h"

namespace iobench {
namespace {

struct flock LockOf(int type, const LockRange& range) {
  struct flock lock {};  // OFD locks require l_pid 0
  lock.l_type = static_cast<int16_t>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(range.offset_bytes);
  lock.l_len = static_cast<off_t>(range.bytes);
  return lock;
}

int TypeOf(LockKind kind) {
  return kind == LockKind::kRead ? F_RDLCK : F_WRLCK;
}

int LockOnce(int fd, int command, int type, const LockRange& range) {
  struct flock lock = LockOf(type, range);
  return ::fcntl(fd, command, &lock) == 0 ? 0 : errno;
}

int Lock(int fd, int command, int type, const LockRange& range) {
  for (;;) {
    if (const int error = LockOnce(fd, command, type, range); error != EINTR) return error;
  }
}

int32_t HolderOf(int fd, LockKind kind, const LockRange& range) {
  struct flock lock = LockOf(TypeOf(kind), range);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid > 0 ? lock.l_pid : 0;  // -1: a lock of an open file description
}

}  // namespace

int WaitForLock(int fd, LockKind kind, const LockRange& range) {
  return Lock(fd, F_OFD_SETLKW, TypeOf(kind), range);
}

int WaitForLockOnce(int fd, LockKind kind, const LockRange& range) {
  return LockOnce(fd, F_OFD_SETLKW, TypeOf(kind), range);
}

int Unlock(int fd, const LockRange& range) {
  return Lock(fd, F_OFD_SETLK, F_UNLCK, range);
}

bool IsLockedByOthers(int fd, const LockRange& range) {
  struct flock lock = LockOf(F_WRLCK, range);
  return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

LockAttempt TryToLock(int fd, LockKind kind, const LockRange& range, int64_t patience_ns) {
  const int64_t give_up_ns = MonotonicNowNs() + patience_ns;
  for (;;) {
    const int error = Lock(fd, F_OFD_SETLK, TypeOf(kind), range);
    if (error != EAGAIN && error != EACCES) return {.errno_value = error};
    if (MonotonicNowNs() >= give_up_ns) {
      return {.errno_value = EAGAIN, .holder_process = HolderOf(fd, kind, range)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace iobench

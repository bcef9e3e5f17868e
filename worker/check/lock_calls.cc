#include "worker/check/lock_calls.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/process/interrupter.h"
#include "common/status_util.h"

namespace iobench {
namespace {

enum class Locking { kNow, kWaiting, kUnlock };

int CallOnce(int fd, const v1::FileAction::FileLock& wanted, Locking how) {
  int error = 0;
  if (wanted.flock()) {
    const int kind = wanted.shared() ? LOCK_SH : LOCK_EX;
    const int operation = how == Locking::kUnlock ? LOCK_UN : how == Locking::kNow ? kind | LOCK_NB : kind;
    error = ::flock(fd, operation) == 0 ? 0 : errno;
  } else {
    struct flock lock {};
    lock.l_type = static_cast<short>(how == Locking::kUnlock ? F_UNLCK : wanted.shared() ? F_RDLCK : F_WRLCK);
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(wanted.begin());
    lock.l_len = static_cast<off_t>(wanted.bytes());
    error = ::fcntl(fd, how == Locking::kWaiting ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0 ? 0 : errno;
  }
  return error == EACCES ? EAGAIN : error;  // both mean that somebody else has it
}

int CallUninterrupted(int fd, const v1::FileAction::FileLock& wanted, Locking how) {
  int error = 0;
  do {
    error = CallOnce(fd, wanted, how);
  } while (error == EINTR);
  return error;
}

}  // namespace

int LockNow(int fd, const v1::FileAction::FileLock& lock) {
  return CallUninterrupted(fd, lock, Locking::kNow);
}

int Unlock(int fd, const v1::FileAction::FileLock& lock) {
  return CallUninterrupted(fd, lock, Locking::kUnlock);
}

int LockWaiting(int fd, const v1::FileAction::FileLock& lock, const std::function<bool()>& is_over) {
  constexpr int64_t kLookEveryNs = 10'000'000;
  const auto interrupter = Interrupter::Create(is_over, kLookEveryNs);
  if (!interrupter.ok()) return ErrnoOf(interrupter.status());
  int error = 0;
  do {
    error = CallOnce(fd, lock, Locking::kWaiting);
  } while (error == EINTR && !(*interrupter)->over());
  return error == EINTR ? EAGAIN : error;
}

}  // namespace iobench

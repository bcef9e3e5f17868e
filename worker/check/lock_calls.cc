#include "worker/check/lock_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "absl/status/statusor.h"
#include "common/process/thread.h"
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

// Lets system calls of its thread be interrupted by a signal that nothing else here uses.
class Interruptible {
 public:
  Interruptible() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = 0;  // without SA_RESTART, so that the call returns EINTR
    ::sigaction(Signal(), &action, nullptr);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, Signal());
    ::pthread_sigmask(SIG_UNBLOCK, &signals, &old_mask_);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  // The handler stays: another thread may wait for a lock too.
  ~Interruptible() { ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr); }

  static int Signal() { return SIGRTMIN + 9; }

 private:
  sigset_t old_mask_{};
};

}  // namespace

int LockNow(int fd, const v1::FileAction::FileLock& lock) {
  return CallUninterrupted(fd, lock, Locking::kNow);
}

int Unlock(int fd, const v1::FileAction::FileLock& lock) {
  return CallUninterrupted(fd, lock, Locking::kUnlock);
}

int LockWaiting(int fd, const v1::FileAction::FileLock& lock, const std::function<bool()>& is_over) {
  constexpr timespec kLookEvery = {.tv_sec = 0, .tv_nsec = 10'000'000};
  const Interruptible interruptible;
  const pthread_t waiter = ::pthread_self();
  std::atomic<bool> ended{false}, over{false};
  // Signals again and again: one that comes just before the call begins interrupts nothing.
  absl::StatusOr<std::thread> interrupter = StartThread([&] {
    while (!ended) {
      over = over || is_over();
      if (over && !ended) ::pthread_kill(waiter, Interruptible::Signal());
      ::nanosleep(&kLookEvery, nullptr);
    }
  });
  if (!interrupter.ok()) return ErrnoOf(interrupter.status());
  int error = 0;
  do {
    error = CallOnce(fd, lock, Locking::kWaiting);
  } while (error == EINTR && !over);
  ended = true;
  interrupter->join();
  return error == EINTR ? EAGAIN : error;
}

}  // namespace iobench

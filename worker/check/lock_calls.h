// The calls that lock a file and unlock it, by fcntl or flock.
#ifndef WORKER_CHECK_LOCK_CALLS_H_
#define WORKER_CHECK_LOCK_CALLS_H_

#include <functional>

#include "iobench/v1/control.pb.h"

namespace iobench {

// fcntl locks belong to the open file, not to the process: closing another descriptor of the file releases nothing. All
// return 0 or an errno; EAGAIN: somebody else has the lock.
int LockNow(int fd, const v1::FileAction::FileLock& lock);
int Unlock(int fd, const v1::FileAction::FileLock& lock);

// As LockNow, but the kernel waits for the lock, as it does for a program that calls F_SETLKW: over NFSv3 and NFSv4.1, it
// then depends on the server to call the client. Returns EAGAIN once `is_over` is true, within some 20 ms; `is_over` is
// called by another thread. A call that the file system does not let a signal interrupt lasts as long as it likes. Another
// errno than those of the call: no thread could be started.
int LockWaiting(int fd, const v1::FileAction::FileLock& lock, const std::function<bool()>& is_over);

}  // namespace iobench

#endif  // WORKER_CHECK_LOCK_CALLS_H_

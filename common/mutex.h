// std::mutex and std::condition_variable with thread-safety annotations. The project does not use absl::Mutex because
// Debian's abseil is built without ThreadSanitizer support, which would cause false race reports.
#ifndef COMMON_MUTEX_H_
#define COMMON_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "common/time.h"

namespace iobench {

// Not recursive. Code that can return early takes it with a MutexLock. Members under a mutex carry ABSL_GUARDED_BY,
// which clang checks.
class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds the mutex from its construction to the end of its scope. The mutex must outlive it.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits for a condition on data under a mutex. Spurious wake-ups are handled here. `ready` runs with the mutex held,
// which clang's analysis cannot see; callers mark such lambdas ABSL_NO_THREAD_SAFETY_ANALYSIS.
class CondVar {
 public:
  // Blocks until `ready()` returns true. REQUIRES: the caller holds `mutex`.
  template <typename Ready>
  void Wait(Mutex& mutex, Ready ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock, ready);
    lock.release();
  }
  // Like Wait, but at most until CLOCK_MONOTONIC (the clock of std::chrono::steady_clock) reaches `until_ns`. Returns
  // false if `ready()` is still false then.
  template <typename Ready>
  bool WaitUntil(Mutex& mutex, int64_t until_ns, Ready ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns));
    const bool is_ready = condition_.wait_until(lock, until, ready);
    lock.release();
    return is_ready;
  }
  // Wake one waiting thread, or all. The caller need not hold the mutex, but must have held it when it changed the
  // data.
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace iobench

#endif  // COMMON_MUTEX_H_

// A thread-safe queue: any thread may push, one thread pops.
#ifndef COMMON_TRANSPORT_EVENT_QUEUE_H_
#define COMMON_TRANSPORT_EVENT_QUEUE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/mutex.h"
#include "common/transport/transport.h"

namespace iobench {

// First in, first out, with no length limit. A push wakes the popping thread at once. A thread that must also poll
// something else (such as MPI) sleeps in PopUntil, so that events still wake it. REQUIRES: all pushes have ended before
// the queue is destroyed.
template <typename Item>
class WaitQueue {
 public:
  // Never blocks for longer than another push or pop takes. The lock is released before the wake-up, so that the woken
  // thread does not wait for it.
  void Push(Item item) {
    {
      MutexLock lock(mutex_);
      items_.push_back(std::move(item));
    }
    pushed_.NotifyOne();
  }

  // Returns the oldest item, or nullopt if none arrives before CLOCK_MONOTONIC reaches `until_ns`.
  std::optional<Item> PopUntil(int64_t until_ns) {
    MutexLock lock(mutex_);
    if (items_.empty()) {
      pushed_.WaitUntil(mutex_, until_ns,
                        [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !items_.empty(); });
    }
    return PopLocked();
  }

  // Returns the oldest item, or nullopt. Does not wait.
  std::optional<Item> TryPop() {
    MutexLock lock(mutex_);
    return PopLocked();
  }

 private:
  std::optional<Item> PopLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  Mutex mutex_;
  CondVar pushed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
};

// The coordinator's queue of events. The transport stamps each event with its time of arrival before pushing it.
using EventQueue = WaitQueue<ReceivedEvent>;

}  // namespace iobench

#endif  // COMMON_TRANSPORT_EVENT_QUEUE_H_

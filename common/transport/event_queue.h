// Where threads leave things for the one thread that waits. Any thread pushes; one thread pops.
#ifndef COMMON_TRANSPORT_EVENT_QUEUE_H_
#define COMMON_TRANSPORT_EVENT_QUEUE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/mutex.h"
#include "common/transport/transport.h"

namespace iobench {

// First in, first out. A push wakes the waiting thread at once, so a thread that also has to look elsewhere (MPI must
// be probed) naps in PopUntil instead of sleeping.
template <typename Item>
class WaitQueue {
 public:
  void Push(Item item) {
    {
      MutexLock lock(mutex_);
      items_.push_back(std::move(item));
    }
    pushed_.NotifyOne();
  }

  // The oldest item; waits at most until CLOCK_MONOTONIC shows `until_ns`. nullopt: there was none by then.
  std::optional<Item> PopUntil(int64_t until_ns) {
    MutexLock lock(mutex_);
    if (items_.empty()) {
      pushed_.WaitUntil(mutex_, until_ns,
                        [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !items_.empty(); });
    }
    return PopLocked();
  }

  // The oldest item, without waiting.
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

// The coordinator's.
using EventQueue = WaitQueue<ReceivedEvent>;

}  // namespace iobench

#endif  // COMMON_TRANSPORT_EVENT_QUEUE_H_

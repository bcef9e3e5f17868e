// Ends a blocking system call of a thread that should wait no longer, by a signal.
#ifndef COMMON_PROCESS_INTERRUPTER_H_
#define COMMON_PROCESS_INTERRUPTER_H_

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/statusor.h"

namespace iobench {

// From its creation on, system calls of the thread that created it, which also destroys it, return EINTR once a condition
// holds: those that signals can interrupt, and within two looks. It uses a real-time signal that nothing else here uses, whose
// handler does nothing.
class Interrupter {
 public:
  // `is_over` is called by another thread, every `look_every_ns`, until it has been true once. Fails as StartThread does.
  static absl::StatusOr<std::unique_ptr<Interrupter>> Create(std::function<bool()> is_over, int64_t look_every_ns);
  ~Interrupter();
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  // True once the condition has held: a call that returned EINTR must not be repeated.
  bool over() const { return over_; }

 private:
  Interrupter();
  void Watch(const std::function<bool()>& is_over, int64_t look_every_ns);

  const pthread_t waiter_;
  sigset_t old_mask_{};
  std::atomic<bool> ended_{false}, over_{false};
  std::thread watcher_;
};

}  // namespace iobench

#endif  // COMMON_PROCESS_INTERRUPTER_H_

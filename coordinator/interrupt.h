// The user's wish to end early (SIGINT, SIGTERM, SIGHUP). Set by a signal handler, looked at by whoever waits.
#ifndef COORDINATOR_INTERRUPT_H_
#define COORDINATOR_INTERRUPT_H_

#include <atomic>

namespace iobench {

class Interrupt {
 public:
  void Raise() { raised_.store(true, std::memory_order_relaxed); }
  bool raised() const { return raised_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> raised_{false};
};

}  // namespace iobench

#endif  // COORDINATOR_INTERRUPT_H_

// The user's request to end early (SIGINT, SIGTERM, SIGHUP). A signal handler sets it; waiting code polls it.
#ifndef COORDINATOR_CLUSTER_INTERRUPT_H_
#define COORDINATOR_CLUSTER_INTERRUPT_H_

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

#endif  // COORDINATOR_CLUSTER_INTERRUPT_H_

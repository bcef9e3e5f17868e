// The user's request to end early (SIGINT, SIGTERM, SIGHUP). A signal handler sets it; waiting code polls it.
#ifndef COORDINATOR_CLUSTER_INTERRUPT_H_
#define COORDINATOR_CLUSTER_INTERRUPT_H_

#include <atomic>
#include <cstdint>

namespace iobench {

// After an interrupt, the lanes have this long to end their op in flight; collecting their results may take as long
// again. mpirun kills one second after its Ctrl-C, so both together must take less; nor may a hung mount delay the end.
inline constexpr int64_t kInterruptGraceNs = 350'000'000;

// Any thread may use it, and Raise also a signal handler. It stays raised. The order is relaxed, because the flag
// announces no other data: code that sees it late only ends later.
class Interrupt {
 public:
  // `signal`: the signal that asked for it; 0: none.
  void Raise(int signal = 0) {
    signal_.store(signal, std::memory_order_relaxed);
    raised_.store(true, std::memory_order_relaxed);
  }
  int signal() const { return signal_.load(std::memory_order_relaxed); }
  bool raised() const { return raised_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> raised_{false};
  std::atomic<int> signal_{0};
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_INTERRUPT_H_

#include "coordinator/process/signals.h"

#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/process/ending_signals.h"
#include "coordinator/files/patience.h"
#include "coordinator/process/failure.h"

namespace iobench {
namespace {

Interrupt interrupt;
std::atomic<bool> stop_worker{false};

std::atomic<int64_t> first_signal_ns{0};

extern "C" void OnSignal(int number) {
  if (interrupt.raised()) {
    if (MonotonicNowNs() - first_signal_ns.load(std::memory_order_relaxed) < kSameRequestNs) return;
    _exit(kExitInterrupted);
  }
  first_signal_ns.store(MonotonicNowNs(), std::memory_order_relaxed);
  interrupt.Raise(number);
  stop_worker.store(true, std::memory_order_relaxed);
}

void Handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  for (const int number : kEndingSignals) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // Stays ignored under nohup.
    if (number != SIGHUP || before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interrupt& TheInterrupt() {
  return interrupt;
}
std::atomic<bool>& StopWorker() {
  return stop_worker;
}

void HandleSignals() {
  FilePatience().interrupted = &stop_worker;
  Handle(OnSignal);
}
void IgnoreSignals() {
  Handle(SIG_IGN);
}

}  // namespace iobench

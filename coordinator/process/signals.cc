#include "coordinator/process/signals.h"

#include <signal.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/run/conductor.h"

namespace iobench {
namespace {

Interrupt interrupt;
std::atomic<bool> stop_worker{false};

// timeout(1) signals its child and then their process group, so that one request arrives twice.
constexpr int64_t kSameRequestNs = 100'000'000;
std::atomic<int64_t> first_signal_ns{0};

// The first signal requests an orderly end; the second ends the program at once.
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
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Stays ignored under nohup.
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

Interrupt& TheInterrupt() {
  return interrupt;
}
std::atomic<bool>& StopWorker() {
  return stop_worker;
}

void HandleSignals() {
  Handle(OnSignal);
}
void IgnoreSignals() {
  Handle(SIG_IGN);
}

}  // namespace iobench

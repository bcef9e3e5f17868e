#include "coordinator/signals.h"

#include <signal.h>
#include <unistd.h>

#include "coordinator/run/conductor.h"

namespace iobench {
namespace {

Interrupt interrupt;
std::atomic<bool> stop_worker{false};

// The first signal requests an orderly end; the second ends the program at once.
extern "C" void OnSignal(int) {
  if (interrupt.raised()) _exit(kExitInterrupted);
  interrupt.Raise();
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

#include "coordinator/process/signals.h"

#include <signal.h>
#include <unistd.h>

#include <deque>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/ending_signals.h"
#include "common/text/display_text.h"
#include "coordinator/files/file_patience.h"
#include "coordinator/process/failure.h"

namespace iobench {
namespace {

Interrupt interrupt;
std::atomic<bool> stop_worker{false};

std::atomic<int64_t> first_signal_ns{0};
std::atomic<const std::string*> said_at_second{nullptr};  // never freed: the handler may be reading it

extern "C" void OnSignal(int number) {
  if (interrupt.raised()) {
    if (MonotonicNowNs() - first_signal_ns.load(std::memory_order_relaxed) < kSameRequestNs) return;
    if (const std::string* const text = said_at_second.load(std::memory_order_acquire); text != nullptr) {
      static_cast<void>(!write(STDERR_FILENO, text->data(), text->size()));
    }
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

void SayAtSecondSignal(const std::string& text) {
  static std::deque<std::string>& said = *new std::deque<std::string>;  // the handler may read any of them at any time
  said.push_back(absl::StrCat("\ncluster-iobench: ended at once; ", Printable(text), "\n"));
  said_at_second.store(&said.back(), std::memory_order_release);
}

void HandleSignals() {
  FilePatience().interrupted = &stop_worker;
  Handle(OnSignal);
}
void IgnoreSignals() {
  Handle(SIG_IGN);
}

}  // namespace iobench

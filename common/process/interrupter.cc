#include "common/process/interrupter.h"

#include <time.h>

#include <utility>

#include "common/process/thread.h"
#include "common/status_util.h"

namespace iobench {
namespace {

int Signal() {
  return SIGRTMIN + 9;
}

}  // namespace

Interrupter::Interrupter() : waiter_(::pthread_self()) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = 0;  // without SA_RESTART, so that the call returns EINTR
  ::sigaction(Signal(), &action, nullptr);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, Signal());
  ::pthread_sigmask(SIG_UNBLOCK, &signals, &old_mask_);
}

// The handler stays: another thread may be waiting too.
Interrupter::~Interrupter() {
  ended_ = true;
  if (watcher_.joinable()) watcher_.join();
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

absl::StatusOr<std::unique_ptr<Interrupter>> Interrupter::Create(std::function<bool()> is_over, int64_t look_every_ns) {
  std::unique_ptr<Interrupter> interrupter(new Interrupter());
  IOBENCH_ASSIGN_OR_RETURN(interrupter->watcher_,
                           StartThread([made = interrupter.get(), is_over = std::move(is_over), look_every_ns] {
                             made->Watch(is_over, look_every_ns);
                           }));
  return interrupter;
}

// Signals again and again: one that comes just before the call begins interrupts nothing.
void Interrupter::Watch(const std::function<bool()>& is_over, int64_t look_every_ns) {
  const timespec look_every = {.tv_sec = look_every_ns / 1'000'000'000, .tv_nsec = look_every_ns % 1'000'000'000};
  while (!ended_) {
    over_ = over_ || is_over();
    if (over_ && !ended_) ::pthread_kill(waiter_, Signal());
    ::nanosleep(&look_every, nullptr);
  }
}

}  // namespace iobench

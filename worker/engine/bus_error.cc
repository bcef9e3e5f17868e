#include "worker/engine/bus_error.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdint>

#include "common/mutex.h"

namespace iobench {
namespace {

constinit thread_local BusErrorGuard* guard_of_thread = nullptr;

// The previous handler of SIGBUS. Written under the mutex, and only while our handler is not installed.
struct sigaction handler_before {};
Mutex install_mutex;

}  // namespace

BusErrorGuard::BusErrorGuard(std::span<const MappedRange> maps) : maps_(maps) {
  assert(guard_of_thread == nullptr);
  InstallHandler();
  // A fault while its signal is blocked ends the process.
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &bus, &old_mask_);
  guard_of_thread = this;
}

BusErrorGuard::~BusErrorGuard() {
  guard_of_thread = nullptr;
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void BusErrorGuard::InstallHandler() {
  const MutexLock lock(install_mutex);
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &OnSignal) return;
  handler_before = now;
  struct sigaction ours {};
  ours.sa_sigaction = &OnSignal;
  ours.sa_flags = SA_SIGINFO;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

void BusErrorGuard::OnSignal(int, siginfo_t* info, void*) {
  const int errno_of_thread = errno;
  const bool sent_by_a_process = info->si_code <= 0;
  BusErrorGuard* const guard = guard_of_thread;
  if (!sent_by_a_process && guard != nullptr && guard->Take(static_cast<std::byte*>(info->si_addr))) {
    errno = errno_of_thread;
    return;
  }
  // Not our address. The instruction faults again when we return, and then reaches the previous handler.
  ::sigaction(SIGBUS, &handler_before, nullptr);
  if (sent_by_a_process) ::raise(SIGBUS);
  errno = errno_of_thread;
}

bool BusErrorGuard::Take(std::byte* address) {
  for (const MappedRange& map : maps_) {
    if (address < map.begin || address >= map.begin + map.bytes) continue;
    const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* const page = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(address) & ~(page_bytes - 1));
    const auto bytes = static_cast<size_t>(map.begin + map.bytes - page);
    if (::mmap(page, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
               -1, 0) == MAP_FAILED) {
      return false;
    }
    if (fault_ == nullptr) fault_ = address;
    return true;
  }
  return false;
}

}  // namespace iobench

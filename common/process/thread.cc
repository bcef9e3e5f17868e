#include "common/process/thread.h"

#include <pthread.h>

#include <cstddef>
#include <vector>

#include "common/mutex.h"

namespace iobench {

void NameThisThread(const char* name) {
  ::pthread_setname_np(::pthread_self(), name);
}

absl::Status TryThreads(uint32_t count) {
  Mutex mutex;
  CondVar changed;
  bool ends = false;
  std::vector<std::thread> threads;
  absl::Status status;
  threads.reserve(count);
  while (status.ok() && threads.size() < count) {
    auto started = StartThread([&] {
      MutexLock lock(mutex);
      changed.Wait(mutex, [&ends] { return ends; });
    });
    status = started.status();
    if (started.ok()) threads.push_back(*std::move(started));
  }
  {
    MutexLock lock(mutex);
    ends = true;
    changed.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
  return status;
}

void UseSmallThreadStacks() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr size_t kStackBytes = size_t{1} << 20;
  pthread_attr_t defaults;
  if (::pthread_getattr_default_np(&defaults) != 0) return;
  size_t bytes = 0;
  // Whoever limits stacks to less means it.
  if (::pthread_attr_getstacksize(&defaults, &bytes) == 0 && bytes > kStackBytes &&
      ::pthread_attr_setstacksize(&defaults, kStackBytes) == 0) {
    ::pthread_setattr_default_np(&defaults);
  }
  ::pthread_attr_destroy(&defaults);
#endif
}

}  // namespace iobench

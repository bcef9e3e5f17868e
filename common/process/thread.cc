#include "common/process/thread.h"

#include <vector>

#include "common/mutex.h"

namespace iobench {

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

}  // namespace iobench

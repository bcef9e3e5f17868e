#include "worker/task_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <deque>
#include <utility>

#include "common/mutex.h"
#include "common/process/thread.h"
#include "common/status_util.h"

namespace iobench {

struct TaskThread::Queue {
  Mutex mutex;
  CondVar changed;
  std::deque<std::function<void()>> tasks ABSL_GUARDED_BY(mutex);
  bool closed ABSL_GUARDED_BY(mutex) = false;
  bool ended ABSL_GUARDED_BY(mutex) = false;
  pid_t busy_thread ABSL_GUARDED_BY(mutex) = 0;
};

TaskThread::TaskThread() : queue_(std::make_shared<Queue>()) {}

TaskThread::~TaskThread() {
  Close(0);
}

absl::Status TaskThread::Start() {
  MutexLock lock(queue_->mutex);
  if (thread_.joinable() || queue_->closed) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([queue = queue_] { Run(queue); }));
  return absl::OkStatus();
}

void TaskThread::Post(std::function<void()> task) {
  MutexLock lock(queue_->mutex);
  if (!thread_.joinable() || queue_->closed) return;
  queue_->tasks.push_back(std::move(task));
  queue_->changed.NotifyAll();
}

pid_t TaskThread::busy_thread() const {
  MutexLock lock(queue_->mutex);
  return queue_->busy_thread;
}

bool TaskThread::Close(int64_t until_ns) {
  std::deque<std::function<void()>> dropped;  // destroyed without holding the lock, since a task may own much
  std::thread thread;
  bool ended = true;
  {
    MutexLock lock(queue_->mutex);
    queue_->closed = true;
    dropped.swap(queue_->tasks);
    queue_->changed.NotifyAll();
    thread.swap(thread_);
    if (thread.joinable()) {
      ended = queue_->changed.WaitUntil(queue_->mutex, until_ns,
                                        [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return queue_->ended; });
    }
  }
  if (!thread.joinable()) return true;
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
  return ended;
}

void TaskThread::Run(const std::shared_ptr<Queue>& queue) {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(queue->mutex);
      queue->busy_thread = 0;
      queue->changed.Wait(queue->mutex, [&queue]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return queue->closed || !queue->tasks.empty();
      });
      if (queue->closed) {
        queue->ended = true;
        queue->changed.NotifyAll();
        return;
      }
      task = std::move(queue->tasks.front());
      queue->tasks.pop_front();
      queue->busy_thread = static_cast<pid_t>(::syscall(SYS_gettid));
    }
    task();
  }
}

}  // namespace iobench

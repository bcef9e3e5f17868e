// A thread that runs tasks in the order in which they were posted, so that blocking work does not block the control
// thread.
#ifndef WORKER_TASK_THREAD_H_
#define WORKER_TASK_THREAD_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "worker/task_runner.h"

namespace iobench {

// A task runner with a thread of its own. If Close returns false, the thread is detached.
class TaskThread final : public TaskRunner {
 public:
  TaskThread();
  // Calls Close without waiting: a task that is still running is abandoned.
  ~TaskThread() override;
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  absl::Status Start() override;
  void Post(std::function<void()> task) override;
  bool Close(int64_t until_ns) override;
  pid_t busy_thread() const override;

 private:
  struct Queue;
  static void Run(const std::shared_ptr<Queue>& queue);
  std::shared_ptr<Queue> queue_;  // shared with the thread, which may outlive this object
  std::thread thread_;            // written while holding the queue's lock
};

}  // namespace iobench

#endif  // WORKER_TASK_THREAD_H_

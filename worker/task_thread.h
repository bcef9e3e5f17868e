// A thread that runs tasks in the order in which they were posted, so that blocking work does not block the control
// thread.
#ifndef WORKER_TASK_THREAD_H_
#define WORKER_TASK_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace iobench {

// Any thread may post. The first task starts the thread. Everything a task uses must stay valid while the task may run,
// which can be after Close() if it is stuck in the kernel; therefore let tasks own it.
class TaskThread {
 public:
  TaskThread();
  // Calls Close without waiting: a task that is still running is abandoned.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Returns at once. After Close, the task is dropped.
  void Post(std::function<void()> task);

  // Drops tasks that have not started and waits for the running one until CLOCK_MONOTONIC reaches `until_ns`. Returns
  // false if it is still running; its thread is then detached. Must not be called from a task.
  bool Close(int64_t until_ns);

 private:
  struct Queue;
  static void Run(const std::shared_ptr<Queue>& queue);
  std::shared_ptr<Queue> queue_;  // shared with the thread, which may outlive this object
  std::thread thread_;            // written while holding the queue's lock
};

}  // namespace iobench

#endif  // WORKER_TASK_THREAD_H_

// One thread that does things in the order they were given: what may block, so that the control thread does not.
#ifndef WORKER_TASK_THREAD_H_
#define WORKER_TASK_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace iobench {

// Any thread may post. The thread is started by the first task. What a task uses must live as long as the task may
// run, which is beyond Close() where it is stuck in the kernel: let tasks own it.
class TaskThread {
 public:
  TaskThread();
  ~TaskThread();  // Close(now)
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // After Close: the task is dropped.
  void Post(std::function<void()> task);

  // Drops the tasks that have not begun and waits for the one that runs until CLOCK_MONOTONIC shows `until_ns`.
  // False: it still runs then, and its thread was let go. Not from a task.
  bool Close(int64_t until_ns);

 private:
  struct Queue;
  static void Run(const std::shared_ptr<Queue>& queue);
  std::shared_ptr<Queue> queue_;  // shared with the thread, which may outlive this object
  std::thread thread_;            // written under the queue's lock
};

}  // namespace iobench

#endif  // WORKER_TASK_THREAD_H_

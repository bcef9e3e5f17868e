// Runs a worker's tasks, so that blocking work does not block the control thread.
#ifndef WORKER_TASK_RUNNER_H_
#define WORKER_TASK_RUNNER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace iobench {

// Runs the tasks of one worker one after the other, in the order in which they were posted. Any thread may post.
// Everything a task uses must stay valid while the task may run, which can be after Close() if it is stuck in the
// kernel; therefore let tasks own it.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  // Starts what runs the tasks, if it does not run yet. ResourceExhausted: the system refuses a thread; may be called
  // again.
  virtual absl::Status Start() = 0;

  // Returns at once. Before a successful Start and after Close, the task is dropped.
  virtual void Post(std::function<void()> task) = 0;

  // Drops tasks that have not started and waits for the running one until CLOCK_MONOTONIC reaches `until_ns`. Returns
  // false if it is still running. Must not be called from a task.
  virtual bool Close(int64_t until_ns) = 0;

  // Returns the thread that is running a task; 0: none is. Callable from any thread.
  virtual pid_t busy_thread() const = 0;
};

}  // namespace iobench

#endif  // WORKER_TASK_RUNNER_H_

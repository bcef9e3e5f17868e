// The thread that does the work of all simulated workers of a process: their tasks, and their lanes at the start.
#ifndef WORKER_SIMULATED_SIMULATION_LOOP_H_
#define WORKER_SIMULATED_SIMULATION_LOOP_H_

#include <sys/resource.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "worker/client/host_counters.h"
#include "worker/task_runner.h"

namespace iobench {

// Any thread may post. Its runners must not outlive it.
class SimulationLoop {
 public:
  SimulationLoop() = default;
  // Drops what has not run, and waits for what is running.
  ~SimulationLoop();
  SimulationLoop(const SimulationLoop&) = delete;
  SimulationLoop& operator=(const SimulationLoop&) = delete;

  // Starts the thread. Until then, tasks wait. ResourceExhausted: the system refuses it.
  absl::Status Start();
  void Post(std::function<void()> task);
  // Runs the task when CLOCK_MONOTONIC has reached `monotonic_ns`, before tasks that have no time.
  void PostAt(int64_t monotonic_ns, std::function<void()> task);

  // The tasks of one worker. Those of different workers run on the same thread, in the order of posting.
  std::unique_ptr<TaskRunner> MakeRunner();

  // The counters of this host and process, at most kCountersValidNs old: reading them takes about 0.5 ms, which
  // thousands of simulated clients on one host cannot each spend. Only for tasks.
  struct Counters {
    HostCounters host;
    rusage process{};
  };
  static constexpr int64_t kCountersValidNs = 200'000'000;
  const Counters& LatestCounters();

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> ready_ ABSL_GUARDED_BY(mutex_);
  std::multimap<int64_t, std::function<void()>> timed_ ABSL_GUARDED_BY(mutex_);
  Counters counters_;  // of the thread
  std::thread thread_;
};

}  // namespace iobench

#endif  // WORKER_SIMULATED_SIMULATION_LOOP_H_

#include "worker/simulated/simulation_loop.h"

#include <utility>

#include "common/clock.h"
#include "common/process/thread.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// Shared with the tasks on the loop, which may still be there when the runner is gone.
struct RunnerState {
  Mutex mutex;
  CondVar changed;
  bool closed ABSL_GUARDED_BY(mutex) = false;
  bool running ABSL_GUARDED_BY(mutex) = false;
};

void RunUnlessClosed(RunnerState& state, const std::function<void()>& task) {
  {
    MutexLock lock(state.mutex);
    if (state.closed) return;
    state.running = true;
  }
  task();
  MutexLock lock(state.mutex);
  state.running = false;
  state.changed.NotifyAll();
}

class LoopRunner final : public TaskRunner {
 public:
  explicit LoopRunner(SimulationLoop& loop) : loop_(loop) {}
  ~LoopRunner() override { LoopRunner::Close(0); }

  absl::Status Start() override { return absl::OkStatus(); }  // who owns the loop has started it

  void Post(std::function<void()> task) override {
    loop_.Post([state = state_, task = std::move(task)] { RunUnlessClosed(*state, task); });
  }
  bool Close(int64_t until_ns) override {
    MutexLock lock(state_->mutex);
    state_->closed = true;
    return state_->changed.WaitUntil(state_->mutex, until_ns,
                                     [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !state_->running; });
  }
  pid_t busy_thread() const override { return 0; }  // nothing that it does can hang

 private:
  SimulationLoop& loop_;
  const std::shared_ptr<RunnerState> state_ = std::make_shared<RunnerState>();
};

}  // namespace

SimulationLoop::~SimulationLoop() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status SimulationLoop::Start() {
  IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] { Run(); }));
  return absl::OkStatus();
}

void SimulationLoop::Post(std::function<void()> task) {
  MutexLock lock(mutex_);
  ready_.push_back(std::move(task));
  changed_.NotifyAll();
}

void SimulationLoop::PostAt(int64_t monotonic_ns, std::function<void()> task) {
  MutexLock lock(mutex_);
  timed_.emplace(monotonic_ns, std::move(task));
  changed_.NotifyAll();
}

std::unique_ptr<TaskRunner> SimulationLoop::MakeRunner() {
  return std::make_unique<LoopRunner>(*this);
}

const SimulationLoop::Counters& SimulationLoop::LatestCounters() {
  if (MonotonicNowNs() - counters_.host.at_monotonic_ns < kCountersValidNs) return counters_;
  counters_.host = ReadHostCounters({});
  ::getrusage(RUSAGE_SELF, &counters_.process);
  return counters_;
}

void SimulationLoop::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      const int64_t next_ns = timed_.empty() ? INT64_MAX : timed_.begin()->first;
      const bool is_due = next_ns <= MonotonicNowNs();
      if (ends_) return;
      if (is_due) {
        task = std::move(timed_.extract(timed_.begin()).mapped());
      } else if (!ready_.empty()) {
        task = std::move(ready_.front());
        ready_.pop_front();
      } else {
        const size_t timed_count = timed_.size();
        changed_.WaitUntil(mutex_, next_ns, [this, timed_count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return ends_ || !ready_.empty() || timed_.size() != timed_count;
        });
        continue;
      }
    }
    task();
  }
}

}  // namespace iobench

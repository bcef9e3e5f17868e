// A worker between its first request and Shutdown. Its states and their transitions are those of worker_state.h.
#ifndef WORKER_SESSION_H_
#define WORKER_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/transport.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_directory/data_steps.h"
#include "worker/lane/phase_runner.h"
#include "worker/outbox.h"
#include "worker/task_thread.h"
#include "worker/worker_state.h"

namespace iobench {

// Handle may be called from any thread, but by only one at a time. Objects are held by shared_ptr and shared with tasks
// and lanes, so that one that is stuck in the kernel still finds valid objects when it returns.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const WorkerClock& clock, const v1::WorkerFacts& facts) : clock_(clock), facts_(facts) {}

  // Acts on one request, and answers it at once or by a task. Never blocks: requests that touch files run on the task
  // thread, one after the other. `sink` must stay valid until Shutdown. `received`: when the request arrived, for pings
  // and Arm. A request that the state does not allow is refused with FailedPrecondition, an unknown one with
  // Unimplemented, an empty Adjust with InvalidArgument.
  void Handle(const v1::WorkerRequest& request, EventSink& sink, WorkerTime received);
  // Sends nothing from now on, cancels the phase, and waits for lanes and tasks. Those that are stuck in the kernel
  // after 5 s are abandoned; what they use stays alive, because tasks share this object and lanes share their phase.
  void Shutdown();

  // Callable from any thread; the state may change at once.
  WorkerState state();
  // Runs the task on the task thread, after those posted before. After Shutdown, it is dropped.
  void Later(std::function<void(Session&)> task);

 private:
  using Phase = std::shared_ptr<PhaseRunner>;
  using RequestTask = void (Session::*)(const v1::WorkerRequest&);

  // Runs the task on the task thread with a copy of the request.
  void LaterFor(const v1::WorkerRequest& request, RequestTask task);

  // Moves to the state that the table gives; returns false if it gives none.
  bool Take(WorkerMessage message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the FailedPrecondition for a request that the state does not allow.
  absl::Status NotNow(const v1::WorkerRequest& request) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Acts on a request that was taken. Returns the answer; nullopt: a task will send it.
  std::optional<v1::WorkerEvent> Act(WorkerMessage message, const v1::WorkerRequest& request,
                                     WorkerTime received) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::Pong PongFor(WorkerTime received) const;
  v1::Progress ProgressFor(WorkerTime received) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::Armed Arm(const v1::Arm& arm, WorkerTime received) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // These three start what takes long on the task thread and return at once.
  void BeginPhase(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginDisarm(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginCollect(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The following run on the task thread.
  void Inspect(const v1::WorkerRequest& request);
  void Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous);
  void Disarm(const v1::WorkerRequest& request, const Phase& phase);
  void Collect(const v1::WorkerRequest& request, const Phase& phase);
  void DoDataStep(const v1::WorkerRequest& request);
  void DoClientStep(const v1::WorkerRequest& request);
  void DoNetTest(const v1::WorkerRequest& request);

  // Lanes hand their events to the task thread, which sends them: a lane with descriptors of its own cannot use the
  // connection. A weak reference, because a phase must not keep the session alive.
  PhaseRunner::EventTaker EventTakerOfPhase();
  void SendOfPhase(const v1::WorkerEvent& event);

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  Outbox outbox_;
  TaskThread tasks_;

  Mutex mutex_;
  WorkerState state_ ABSL_GUARDED_BY(mutex_) = WorkerState::kIdle;
  Phase phase_ ABSL_GUARDED_BY(mutex_);  // the latest; kept after Collect, which may be repeated

  DataSteps data_steps_;  // used only by the task thread
};

}  // namespace iobench

#endif  // WORKER_SESSION_H_

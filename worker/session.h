// What a worker is doing between its first request and Shutdown: the state machine that stands in control.proto.
#ifndef WORKER_SESSION_H_
#define WORKER_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/transport.h"
#include "iobench/v1/control.pb.h"
#include "worker/data_steps.h"
#include "worker/outbox.h"
#include "worker/phase_runner.h"
#include "worker/task_thread.h"

namespace iobench {

// Any thread may call Handle, one at a time. Held by shared_ptr: tasks and lanes own it with others, so that one that
// is stuck in the kernel finds everything in its place when it comes back.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const WorkerClock& clock, const v1::WorkerFacts& facts) : clock_(clock), facts_(facts) {}

  // Never blocks; `sink` must live until Shutdown. `received`: when the request came in.
  void Handle(const v1::WorkerRequest& request, EventSink& sink, WorkerTime received);
  // Lanes and tasks that are stuck in the kernel are abandoned after 5 s.
  void Shutdown();

 private:
  enum class State { kIdle, kPreparing, kPrepared, kRunning, kDone, kDisarming };
  using Request = std::shared_ptr<const v1::WorkerRequest>;
  using Phase = std::shared_ptr<PhaseRunner>;

  static const char* NameOf(State state);
  absl::Status NotNow(const char* what) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::Pong PongFor(WorkerTime received) const;
  void Later(std::function<void(Session&)> task);

  void HandlePoll(const v1::WorkerRequest& request, WorkerTime received);
  void HandlePrepare(const Request& request);
  void HandleArm(const v1::WorkerRequest& request, WorkerTime received);
  void HandleAdjust(const Request& request);
  void HandleCollect(const Request& request);
  void HandleDataStep(const Request& request);
  // A task that needs a worker without a phase; `what` names the request.
  void HandleWhenIdle(const Request& request, const char* what,
                      void (Session::*task)(const v1::WorkerRequest&));

  // On the task thread.
  void Inspect(const v1::WorkerRequest& request);
  void Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous);
  void Disarm(const v1::WorkerRequest& request, const Phase& phase);
  void Collect(const v1::WorkerRequest& request, const Phase& phase);
  void DoDataStep(const v1::WorkerRequest& request);
  void DoClientStep(const v1::WorkerRequest& request);
  void DoNetTest(const v1::WorkerRequest& request);

  PhaseRunner::Events EventsFor(uint64_t run_id);
  void TellNow(v1::WorkerEvent event);

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  Outbox outbox_;
  TaskThread tasks_;

  Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  Phase phase_ ABSL_GUARDED_BY(mutex_);            // the newest; kept after Collect, which may come again
  bool quitting_ ABSL_GUARDED_BY(mutex_) = false;  // the phase was told to quit
  bool collected_ ABSL_GUARDED_BY(mutex_) = false;

  DataSteps data_steps_;  // task thread only
};

}  // namespace iobench

#endif  // WORKER_SESSION_H_

// A worker's state between its first request and Shutdown. Implements the state machine described in control.proto.
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
#include "worker/data_directory/data_steps.h"
#include "worker/lane/phase_runner.h"
#include "worker/outbox.h"
#include "worker/task_thread.h"

namespace iobench {

// Handle may be called from any thread, but by only one at a time. Objects are held by shared_ptr and shared with tasks
// and lanes, so that one that is stuck in the kernel still finds valid objects when it returns.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const WorkerClock& clock, const v1::WorkerFacts& facts) : clock_(clock), facts_(facts) {}

  // Never blocks. `sink` must stay valid until Shutdown. `received`: when the request arrived.
  void Handle(const v1::WorkerRequest& request, EventSink& sink, WorkerTime received);
  // Abandons lanes and tasks that are stuck in the kernel after 5 s.
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
  // Runs a task that requires that no phase is active; `what` names the request.
  void HandleWhenIdle(const Request& request, const char* what,
                      void (Session::*task)(const v1::WorkerRequest&));

  // The following run on the task thread.
  void Inspect(const v1::WorkerRequest& request);
  void Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous);
  void Disarm(const v1::WorkerRequest& request, const Phase& phase);
  void Collect(const v1::WorkerRequest& request, const Phase& phase);
  void DoDataStep(const v1::WorkerRequest& request);
  void DoClientStep(const v1::WorkerRequest& request);
  void DoNetTest(const v1::WorkerRequest& request);

  PhaseRunner::EventTaker EventTakerFor(uint64_t run_id);
  void SendOfPhase(const v1::WorkerEvent& event);

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  Outbox outbox_;
  TaskThread tasks_;

  Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  Phase phase_ ABSL_GUARDED_BY(mutex_);            // the latest; kept after Collect, which may be repeated
  bool quitting_ ABSL_GUARDED_BY(mutex_) = false;  // the phase was told to quit
  bool collected_ ABSL_GUARDED_BY(mutex_) = false;

  DataSteps data_steps_;  // used only by the task thread
};

}  // namespace iobench

#endif  // WORKER_SESSION_H_

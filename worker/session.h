// A worker between its first request and Shutdown. Its states and their transitions are those of worker_state.h.
#ifndef WORKER_SESSION_H_
#define WORKER_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/transport.h"
#include "iobench/v1/control.pb.h"
#include "worker/client_tasks.h"
#include "worker/data_directory/data_steps.h"
#include "worker/data_directory/space_filler.h"
#include "worker/lease.h"
#include "worker/outbox.h"
#include "worker/phase_control.h"
#include "worker/task_runner.h"
#include "worker/worker_state.h"

namespace iobench {

// Handle may be called from any thread, but by only one at a time. Objects are held by shared_ptr and shared with tasks
// and lanes, so that a task or lane that is stuck in the kernel still finds valid objects when it returns.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const WorkerClock& clock, const v1::WorkerFacts& facts, const SessionParts& parts = ThreadedParts())
      : clock_(clock),
        facts_(facts),
        make_phase_(parts.make_phase),
        janitor_(parts.janitor),
        tasks_(parts.make_tasks()),
        client_tasks_(clock, facts, parts.janitor) {}

  // Acts on one request, and answers it at once or by a task. Never blocks: requests that touch files run on the task
  // thread, one after the other. `sink` must stay valid until Shutdown. `received`: when the request arrived, for pings
  // and Arm. A request that the state does not allow is refused with FailedPrecondition, an unknown one with
  // Unimplemented, an empty Adjust with InvalidArgument, and any with ResourceExhausted while the task thread cannot be
  // started.
  void Handle(const v1::WorkerRequest& request, EventSink& sink, WorkerTime received);
  // Sends nothing from now on, cancels the phase, and waits for lanes and tasks. Those that are stuck in the kernel
  // after 0.5 s are abandoned; what they use stays alive, because tasks share this object and lanes share their phase.
  // After a Leave, it first gives up data that the worker has claimed and the run has not removed.
  void Shutdown();
  // Shutdown for a worker whose coordinator is gone: also gives up what it has claimed and leaves the run's data
  // (LeaveOrphanedData), for which it waits at most 10 s.
  void Abandon();

  // See WorkerHandler::CheckLease.
  absl::Status CheckLease();

  // Callable from any thread; the state may change right afterwards.
  WorkerState state();
  // Runs the task on the task thread, after those posted before. After Shutdown, it is dropped.
  void Later(std::function<void(Session&)> task);

 private:
  using Phase = std::shared_ptr<PhaseControl>;
  using ClientTask = absl::StatusOr<v1::WorkerEvent> (ClientTasks::*)(const v1::WorkerRequest&);

  // A worker that may do I/O leaves sooner.
  bool MayDoIo() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool EndLanes(int64_t until_ns);  // false: some are stuck
  // Runs a task after those posted before, and waits for it until then: a file system may hang.
  void WaitForTask(std::function<void(Session&)> task, int64_t until_ns);

  // Moves to the state that the table gives; returns false if it gives none.
  bool Take(WorkerMessage message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the FailedPrecondition for a request that the state does not allow.
  absl::Status NotNow(const v1::WorkerRequest& request) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Acts on a request that was taken. Returns the answer; nullopt: a task will send it.
  std::optional<v1::WorkerEvent> Act(WorkerMessage message, const v1::WorkerRequest& request,
                                     WorkerTime received) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::Pong PongFor(WorkerTime received) const;
  // What a poll looks at, without the mutex.
  struct Work {
    Phase phase;                          // null: none yet
    std::shared_ptr<SpaceFiller> filler;  // null: nothing is filled
  };
  v1::Progress ProgressOf(const Work& work, const v1::Poll& poll, WorkerTime received) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  v1::Armed Arm(const v1::Arm& arm, WorkerTime received) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // These start long work on the task thread and return at once.
  void BeginPhase(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginDisarm(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginCollect(const v1::WorkerRequest& request, WorkerTime received)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginFill(const v1::WorkerRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DoClientTask(const v1::WorkerRequest& request, ClientTask task);
  void AnswerWith(ClientTask task, const v1::WorkerRequest& request);
  // On the thread of tasks, or, in lanes above 0, on a thread of its own beside all that goes on.
  void DoFileActions(const v1::WorkerRequest& request);

  // The following run on the task thread.
  void Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous);
  void Disarm(const v1::WorkerRequest& request, const Phase& phase);
  void Collect(const v1::WorkerRequest& request, WorkerTime received, const Phase& phase);
  void DoDataStep(const v1::WorkerRequest& request);
  void FillSpace(const v1::WorkerRequest& request, SpaceFiller& filler);

  // Lanes hand their events to the task thread, which sends them: a lane with descriptors of its own cannot use the
  // connection. The reference is weak, because a phase must not keep the session alive.
  PhaseControl::EventTaker EventTakerOfPhase();
  void SendOfPhase(v1::WorkerEvent event);
  // Adds the phase's results to its LanesDone if they are short enough (Arm.report_up_to_ns); returns whether it did.
  bool AddResults(const Phase& phase, v1::LanesDone& done);
  // PhaseControl::Collect; the session counts as collected before the last chunk is given.
  absl::Status CollectFrom(const Phase& phase, std::span<const WorkerTime> instants,
                           std::optional<WorkerTime> settle_until,
                           const std::function<void(v1::ResultChunk)>& give);
  // Answers a Collect that has `ping`, but whose results would take time or need instants: they are pending.
  void SendPending(const v1::WorkerRequest& request, WorkerTime received);

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  const decltype(SessionParts::make_phase) make_phase_;
  Janitor* const janitor_;
  Outbox outbox_;
  const std::unique_ptr<TaskRunner> tasks_;

  Mutex mutex_;
  WorkerState state_ ABSL_GUARDED_BY(mutex_) = WorkerState::kIdle;
  Phase phase_ ABSL_GUARDED_BY(mutex_);  // the latest; kept after Collect, which may be repeated
  Lease lease_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SpaceFiller> filler_ ABSL_GUARDED_BY(mutex_);  // while it fills
  // What the worker leaves if its coordinator is gone: targets, claims and lanes.
  std::shared_ptr<const v1::WorkerRequest> newest_prepare_ ABSL_GUARDED_BY(mutex_);
  int64_t report_up_to_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // of the latest Arm
  bool told_to_leave_ ABSL_GUARDED_BY(mutex_) = false;
  bool had_file_actions_ ABSL_GUARDED_BY(mutex_) = false;
  bool had_data_steps_ ABSL_GUARDED_BY(mutex_) = false;
  bool collects_ ABSL_GUARDED_BY(mutex_) = false;   // the latest phase
  bool validates_ ABSL_GUARDED_BY(mutex_) = false;  // it works on files outside of phases

  // Used only by the task thread, except to cancel.
  DataSteps data_steps_;
  ClientTasks client_tasks_;
};

}  // namespace iobench

#endif  // WORKER_SESSION_H_

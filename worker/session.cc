#include "worker/session.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "common/text/units.h"
#include "worker/client/thread_work.h"
#include "worker/data_directory/orphaned_data.h"
#include "worker/janitor.h"

namespace iobench {
namespace {

// The patience with lanes and tasks that do not end. An interrupted run must end within 2 s even if a file system
// hangs; lanes that do not hang end after the op in flight.
constexpr int64_t kPatienceNs = 500'000'000;
constexpr int64_t kLeavingDataTakesNs = 10 * kNanosPerSecond;

// LanesDone says all that LaneEnded says. A worker whose last lane ends within this time sends one message instead of
// two; the other workers' lanes may be stopped this much later, since no figure depends on when that happens.
constexpr int64_t kEndsTogetherNs = 1'000'000;

// An event that happens once, and that a thread may wait for.
class Notice {
 public:
  void Give() {
    MutexLock lock(mutex_);
    given_ = true;
    changed_.NotifyAll();
  }
  bool WaitUntil(int64_t until_ns) {
    MutexLock lock(mutex_);
    return changed_.WaitUntil(mutex_, until_ns, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return given_; });
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool given_ ABSL_GUARDED_BY(mutex_) = false;
};

// For a task, which outlives the request that it carries out.
std::shared_ptr<const v1::WorkerRequest> Shared(const v1::WorkerRequest& request) {
  return std::make_shared<const v1::WorkerRequest>(request);
}

bool AllRegionsWithin(const v1::LanesDone& done, int64_t max_ns) {
  return std::all_of(done.ends().begin(), done.ends().end(), [max_ns](const v1::LaneEnds& ends) {
    return !ends.took_part() || ends.region_end_worker_ns() - ends.first_op_worker_ns() <= max_ns;
  });
}

absl::Status Unknown(const v1::WorkerRequest& request) {
  if (request.has_adjust()) return absl::InvalidArgumentError("Adjust without a body");
  return absl::UnimplementedError("this worker does not know this request");
}

}  // namespace

void Session::Later(std::function<void(Session&)> task) {
  tasks_->Post([self = shared_from_this(), task = std::move(task)] { task(*self); });
}

// --------------------------------------------------------------------------------------------------- states

WorkerState Session::state() {
  MutexLock lock(mutex_);
  return state_;
}

bool Session::Take(WorkerMessage message) {
  const std::optional<WorkerState> next = NextState(state_, message);
  if (next.has_value()) state_ = *next;
  return next.has_value();
}

absl::Status Session::NotNow(const v1::WorkerRequest& request) const {
  const google::protobuf::FieldDescriptor* const body =
      v1::WorkerRequest::descriptor()->FindFieldByNumber(request.body_case());
  return absl::FailedPreconditionError(
      absl::StrCat(body->message_type()->name(), " while the worker is ", ActivityOf(state_)));
}

void Session::Handle(const v1::WorkerRequest& request, EventSink& sink, WorkerTime received) {
  outbox_.Connect(sink);
  if (const absl::Status works = tasks_->Start(); !works.ok()) return outbox_.Send(Refusal(request, works));
  const std::optional<WorkerMessage> message = MessageOf(request);
  if (!message.has_value()) return outbox_.Send(Refusal(request, Unknown(request)));
  std::optional<v1::WorkerEvent> answer;
  Work work;
  bool taken = false;
  {
    MutexLock lock(mutex_);
    lease_.Heard(request.ping().lease_ms());
    taken = Take(*message);
    if (*message == WorkerMessage::kPoll) work = {phase_, filler_};
    answer = taken ? Act(*message, request, received) : Refusal(request, NotNow(request));
  }
  // Without the mutex: looking closely reads files of every lane in /proc, which a busy client makes slow.
  if (taken && *message == WorkerMessage::kPoll) {
    *answer->mutable_progress() = ProgressOf(work, request.poll(), received);
  }
  if (answer.has_value()) outbox_.Send(*std::move(answer));
}

std::optional<v1::WorkerEvent> Session::Act(WorkerMessage message, const v1::WorkerRequest& request,
                                            WorkerTime received) {
  v1::WorkerEvent answer = ReplyTo(request);
  switch (message) {
    case WorkerMessage::kPing:
      *answer.mutable_pong() = PongFor(received);
      return answer;
    case WorkerMessage::kPoll:
      return answer;  // which Handle fills
    case WorkerMessage::kLeave:
      told_to_leave_ = true;
      answer.mutable_left();
      return answer;
    case WorkerMessage::kArm:
      *answer.mutable_armed() = Arm(request.arm(), received);
      if (request.arm().ping()) *answer.mutable_armed()->mutable_pong() = PongFor(received);
      return answer;
    case WorkerMessage::kStop:
      phase_->Stop();
      break;
    case WorkerMessage::kOpsGoal:
      phase_->SetGoal(request.adjust().ops_goal());
      break;
    case WorkerMessage::kQuit:
      phase_->Quit();
      break;
    case WorkerMessage::kDisarm:
      BeginDisarm(request);
      return std::nullopt;
    case WorkerMessage::kPrepare:
      BeginPhase(request);
      return std::nullopt;
    case WorkerMessage::kCollect:
      BeginCollect(request, received);
      return std::nullopt;
    case WorkerMessage::kInspect:
      DoClientTask(request, &ClientTasks::Inspect);
      return std::nullopt;
    case WorkerMessage::kDataStep:
      had_data_steps_ = true;
      Later([request = Shared(request)](Session& self) { self.DoDataStep(*request); });
      return std::nullopt;
    case WorkerMessage::kClientStep:
      DoClientTask(request, &ClientTasks::ClientStep);
      return std::nullopt;
    case WorkerMessage::kNetTest:
      DoClientTask(request, &ClientTasks::NetTest);
      return std::nullopt;
    case WorkerMessage::kFileActions:
      had_file_actions_ = true;
      for (const v1::FileAction& action : request.file_actions().actions())
        validates_ |= action.directory() != 0;
      DoFileActions(request);
      return std::nullopt;
    case WorkerMessage::kSample:
      DoClientTask(request, &ClientTasks::Sample);
      return std::nullopt;
    case WorkerMessage::kFillSpace:
      BeginFill(request);
      return std::nullopt;
    default:
      assert(false);  // an outcome is no request
      return std::nullopt;
  }
  answer.mutable_adjusted();
  return answer;
}

v1::Pong Session::PongFor(WorkerTime received) const {
  v1::Pong pong;
  pong.set_received_worker_ns(received.ns);
  pong.set_replied_worker_ns(clock_.Now().ns);
  return pong;
}

v1::Progress Session::ProgressOf(const Work& work, const v1::Poll& poll, WorkerTime received) const {
  v1::Progress progress;
  if (work.phase != nullptr) progress = work.phase->Progress(poll);
  if (work.filler != nullptr) progress.set_bytes(progress.bytes() + work.filler->written_bytes());
  std::vector<pid_t> busy;
  if (poll.closely()) busy = client_tasks_.LaneThreads();
  if (const pid_t task = poll.closely() ? tasks_->busy_thread() : 0;
      task != 0 && std::find(busy.begin(), busy.end(), task) == busy.end()) {
    busy.push_back(task);
  }
  for (const pid_t thread : busy) {
    const ThreadLook look = ReadThreadWork(thread);
    progress.set_activity(progress.activity() + look.activity);
    v1::ThreadWork& of_task = *progress.add_work();
    of_task.set_lane(-1);
    of_task.set_call(look.call);
    of_task.set_file(look.file);
    if (look.offset) of_task.set_offset(*look.offset);
  }
  *progress.mutable_pong() = PongFor(received);
  return progress;
}

absl::Status Session::CheckLease() {
  MutexLock lock(mutex_);
  if (!lease_.IsOver(MonotonicNowNs(), MayDoIo())) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("nothing heard from the coordinator for ",
                                             FormatSeconds(SecondsFrom(lease_.silence_ns())), " (--lease)"));
}

// Lanes whose timed regions have ended wait to be collected, and their results are kept for a coordinator that was stopped.
bool Session::MayDoIo() const {
  if (validates_ || filler_ != nullptr) return true;
  switch (state_) {
    case WorkerState::kIdle:
    case WorkerState::kCollected:
      return false;
    case WorkerState::kDone:
    case WorkerState::kEnded:
      return collects_;  // which lets lanes finish their files
    default:
      return true;
  }
}

// ------------------------------------------------------------------------------------------------- phases

PhaseControl::EventTaker Session::EventTakerOfPhase() {
  const auto lanes_done = std::make_shared<Notice>();
  return [weak = weak_from_this(), lanes_done](v1::WorkerEvent event) {
    const std::shared_ptr<Session> self = weak.lock();
    if (self == nullptr) return;
    if (event.has_lanes_done()) lanes_done->Give();
    self->Later([event = std::move(event), lanes_done](Session& session) mutable {
      if (event.has_lane_ended() && lanes_done->WaitUntil(MonotonicNowNs() + kEndsTogetherNs)) return;
      session.SendOfPhase(std::move(event));
    });
  };
}

void Session::SendOfPhase(v1::WorkerEvent event) {
  Phase phase;
  {
    MutexLock lock(mutex_);
    // If the phase was disarmed meanwhile, the coordinator would take the event for one of its next start.
    const bool runs = state_ == WorkerState::kRunning || state_ == WorkerState::kQuitting;
    if (event.has_lanes_done() ? !Take(WorkerMessage::kLanesDone) : !runs) return;
    phase = phase_;
  }
  if (!event.has_lanes_done()) return outbox_.Send(std::move(event));
  const bool reported = AddResults(phase, *event.mutable_lanes_done());
  outbox_.Send(std::move(event));
  if (reported && phase->WaitForLanes(INT64_MAX)) phase->CloseDirectories();
}

bool Session::AddResults(const Phase& phase, v1::LanesDone& done) {
  {
    MutexLock lock(mutex_);
    if (report_up_to_ns_ == 0 || !AllRegionsWithin(done, report_up_to_ns_)) return false;
  }
  if (!phase->HasShortResults()) return false;
  return CollectFrom(phase, {}, /*settle_until=*/std::nullopt,
                     [&](v1::ResultChunk chunk) {
                       assert(chunk.last());  // short results have one chunk
                       *done.mutable_results() = std::move(chunk);
                     })
      .ok();
}

void Session::BeginPhase(const v1::WorkerRequest& request) {
  const Phase previous = std::move(phase_);
  collects_ = false;
  phase_ = make_phase_(request.prepare(), clock_, facts_.loop_ns(), EventTakerOfPhase());
  newest_prepare_ = Shared(request);
  Later([request = newest_prepare_, phase = phase_, previous](Session& self) {
    self.Prepare(*request, phase, previous);
  });
}

void Session::Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous) {
  if (previous != nullptr) previous->WaitForLanes(INT64_MAX);
  if (janitor_ != nullptr) janitor_->RecordPrepare(request.prepare());
  absl::StatusOr<v1::Prepared> prepared = phase->Prepare();
  if (!prepared.ok()) {
    phase->Cancel();
    phase->WaitForLanes(INT64_MAX);
  }
  {
    MutexLock lock(mutex_);
    const bool taken = Take(prepared.ok() ? WorkerMessage::kPrepared : WorkerMessage::kUnprepared);
    if (taken && !prepared.ok()) phase_.reset();  // if it was not taken, it was disarmed meanwhile
  }
  if (!prepared.ok()) return outbox_.Send(Refusal(request, prepared.status()));
  v1::WorkerEvent event = ReplyTo(request);
  *event.mutable_prepared() = *std::move(prepared);
  outbox_.Send(std::move(event));
}

v1::Armed Session::Arm(const v1::Arm& arm, WorkerTime received) {
  v1::Armed armed = phase_->Arm(arm, received);
  if (armed.late()) return armed;
  report_up_to_ns_ = arm.report_up_to_ns();
  Take(WorkerMessage::kArmed);
  Later([phase = phase_](Session&) { phase->RecordStart(); });
  return armed;
}

void Session::BeginDisarm(const v1::WorkerRequest& request) {
  if (phase_ != nullptr) phase_->Cancel();
  if (filler_ != nullptr) filler_->Cancel();
  Later([request = Shared(request), phase = phase_](Session& self) { self.Disarm(*request, phase); });
}

void Session::Disarm(const v1::WorkerRequest& request, const Phase& phase) {
  if (phase != nullptr && phase->WaitForLanes(INT64_MAX)) phase->CloseDirectories();
  {
    MutexLock lock(mutex_);
    if (phase_ == phase) {  // otherwise disarmed twice, and prepared again since
      phase_.reset();
      Take(WorkerMessage::kDisarmed);
    }
  }
  v1::WorkerEvent event = ReplyTo(request);
  event.mutable_adjusted();
  outbox_.Send(std::move(event));
}

void Session::BeginCollect(const v1::WorkerRequest& request, WorkerTime received) {
  collects_ = true;
  Later([request = Shared(request), received, phase = phase_](Session& self) {
    self.Collect(*request, received, phase);
  });
}

absl::Status Session::CollectFrom(const Phase& phase, std::span<const WorkerTime> instants,
                                  std::optional<WorkerTime> settle_until,
                                  const std::function<void(v1::ResultChunk)>& give) {
  return phase->Collect(instants, settle_until, [&](v1::ResultChunk chunk) {
    if (chunk.last()) {  // the next request may follow at once
      MutexLock lock(mutex_);
      if (phase_ == phase) Take(WorkerMessage::kCollected);
    }
    give(std::move(chunk));
  });
}

void Session::SendPending(const v1::WorkerRequest& request, WorkerTime received) {
  v1::WorkerEvent event = ReplyTo(request);
  v1::ResultChunk& chunk = *event.mutable_chunk();
  chunk.set_last(true);
  chunk.set_pending(true);
  *chunk.mutable_pong() = PongFor(received);
  outbox_.Send(std::move(event));
}

void Session::Collect(const v1::WorkerRequest& request, WorkerTime received, const Phase& phase) {
  const bool is_ping = request.collect().ping();
  if (is_ping && !phase->HasShortResults()) return SendPending(request, received);
  std::vector<WorkerTime> instants;
  for (const int64_t ns : request.collect().instants_worker_ns()) instants.push_back({ns});
  std::optional<WorkerTime> settle_until;
  if (const int64_t ns = request.collect().settle_until_worker_ns(); ns != 0) settle_until = WorkerTime{ns};
  const absl::Status collected = CollectFrom(phase, instants, settle_until, [&](v1::ResultChunk chunk) {
    if (is_ping) *chunk.mutable_pong() = PongFor(received);
    v1::WorkerEvent event = ReplyTo(request);
    *event.mutable_chunk() = std::move(chunk);
    outbox_.Send(std::move(event));
  });
  if (!collected.ok()) return outbox_.Send(Refusal(request, collected));
  if (phase->WaitForLanes(INT64_MAX)) phase->CloseDirectories();
}

// -------------------------------------------------------------------------------------------- besides phases

void Session::DoClientTask(const v1::WorkerRequest& request, ClientTask task) {
  Later([request = Shared(request), task](Session& self) { self.AnswerWith(task, *request); });
}

void Session::AnswerWith(ClientTask task, const v1::WorkerRequest& request) {
  absl::StatusOr<v1::WorkerEvent> answer = (client_tasks_.*task)(request);
  outbox_.Send(answer.ok() ? *std::move(answer) : Refusal(request, answer.status()));
}

void Session::DoFileActions(const v1::WorkerRequest& request) {
  const auto& actions = request.file_actions().actions();
  const bool runs_beside = std::any_of(actions.begin(), actions.end(),
                                       [](const v1::FileAction& action) { return action.lane() > 0; });
  if (!runs_beside) return DoClientTask(request, &ClientTasks::FileActions);
  Later([request = Shared(request)](Session& self) {
    const auto work = [session = self.shared_from_this(), request] {
      session->AnswerWith(&ClientTasks::FileActions, *request);
    };
    if (absl::StatusOr<std::thread> thread = StartThread(work); thread.ok()) {
      thread->detach();
    } else {
      work();
    }
  });
}

void Session::BeginFill(const v1::WorkerRequest& request) {
  const v1::FillSpace& fill = request.fill_space();
  v1::WorkerRequest leaves;
  *leaves.mutable_prepare()->mutable_targets() = fill.targets();
  *leaves.mutable_prepare()->mutable_claims() = fill.claims();
  leaves.mutable_prepare()->add_lanes()->set_lane(fill.first_lane());
  newest_prepare_ = Shared(leaves);
  filler_ = std::make_shared<SpaceFiller>();
  Later([request = Shared(request), leaves = newest_prepare_, filler = filler_](Session& self) {
    if (self.janitor_ != nullptr) self.janitor_->RecordPrepare(leaves->prepare());
    self.FillSpace(*request, *filler);
  });
}

void Session::FillSpace(const v1::WorkerRequest& request, SpaceFiller& filler) {
  const absl::StatusOr<v1::SpaceFilled> filled = filler.Fill(request.fill_space());
  {
    MutexLock lock(mutex_);
    if (filler_.get() == &filler) filler_.reset();
  }
  if (!filled.ok()) return outbox_.Send(Refusal(request, filled.status()));
  v1::WorkerEvent event = ReplyTo(request);
  *event.mutable_space_filled() = *filled;
  outbox_.Send(std::move(event));
}

void Session::DoDataStep(const v1::WorkerRequest& request) {
  Phase phase;
  {
    MutexLock lock(mutex_);
    // The run ends early: its files are no longer in use, or soon will not be.
    const bool ending = state_ == WorkerState::kQuitting || state_ == WorkerState::kEnded;
    if (ending || state_ == WorkerState::kDisarming) phase = phase_;
  }
  if (phase != nullptr) {
    phase->Cancel();
    phase->WaitForLanes(INT64_MAX);
  }
  v1::WorkerEvent event = ReplyTo(request);
  const absl::Status status =
      data_steps_.Do(request.run_id(), request.data_step(), *event.mutable_data_step_done());
  if (!status.ok()) *event.mutable_problem() = ToProblem(status);
  outbox_.Send(std::move(event));
}

bool Session::EndLanes(int64_t until_ns) {
  Phase phase;
  {
    MutexLock lock(mutex_);
    phase = phase_;
    if (filler_ != nullptr) filler_->Cancel();
    Take(WorkerMessage::kDisarm);
  }
  if (phase != nullptr) phase->Cancel();
  if (phase == nullptr || phase->WaitForLanes(until_ns)) return true;
  LogWarning("abandoned lanes that hang in the kernel");
  return false;
}

void Session::WaitForTask(std::function<void(Session&)> task, int64_t until_ns) {
  const auto ended = std::make_shared<std::promise<void>>();
  const std::future<void> end = ended->get_future();
  Later([task = std::move(task), ended](Session& self) {
    task(self);
    ended->set_value();
  });
  end.wait_for(std::chrono::nanoseconds(until_ns - MonotonicNowNs()));
}

void Session::Shutdown() {
  outbox_.Close();
  client_tasks_.Cancel();
  const int64_t until_ns = MonotonicNowNs() + kPatienceNs;
  bool may_have_data = false;
  {
    MutexLock lock(mutex_);
    may_have_data = told_to_leave_ && had_data_steps_;
  }
  // What the run could not remove is left to `clean`, although this process may live on (worker --stay).
  if (EndLanes(until_ns) && may_have_data) {
    WaitForTask(
        [](Session& self) {
          if (const absl::Status gone = self.data_steps_.Disown(); !gone.ok()) LogWarning(gone.message());
        },
        until_ns);
  }
  if (!tasks_->Close(until_ns)) LogWarning("abandoned an access to a hung file system");
  MutexLock lock(mutex_);
  if (janitor_ != nullptr && told_to_leave_) janitor_->Forget();
}

void Session::Abandon() {
  outbox_.Close();
  client_tasks_.Cancel();
  std::shared_ptr<const v1::WorkerRequest> prepare;
  bool leaves_something = false;
  {
    MutexLock lock(mutex_);
    prepare = newest_prepare_;
    leaves_something = prepare != nullptr || had_file_actions_ || had_data_steps_;
  }
  if (leaves_something && EndLanes(MonotonicNowNs() + kPatienceNs)) {
    WaitForTask(
        [prepare](Session& self) {
          self.client_tasks_.RemoveCheckFiles();
          absl::Status gone = self.data_steps_.Disown();
          if (prepare != nullptr) gone.Update(LeaveOrphanedData(prepare->prepare()));
          if (!gone.ok()) LogWarning(gone.message());
          // Otherwise the janitor would do the same again, while others are removing the data.
          if (self.janitor_ != nullptr) self.janitor_->Forget();
        },
        MonotonicNowNs() + kLeavingDataTakesNs);
  }
  Shutdown();
}

}  // namespace iobench

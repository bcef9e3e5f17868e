#include "worker/session.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "spdlog/spdlog.h"
#include "worker/client/client_probe.h"
#include "worker/client/net_peer.h"
#include "worker/client/remount.h"
#include "worker/demands.h"
#include "worker/storage/lustre.h"

namespace iobench {
namespace {

constexpr int64_t kPatienceNs = 5 * kNanosPerSecond;  // for lanes that do not end

// For a task, which outlives the request that it carries out.
std::shared_ptr<const v1::WorkerRequest> Shared(const v1::WorkerRequest& request) {
  return std::make_shared<const v1::WorkerRequest>(request);
}

absl::Status Unknown(const v1::WorkerRequest& request) {
  if (request.has_adjust()) return absl::InvalidArgumentError("Adjust without a body");
  return absl::UnimplementedError("this worker does not know this request");
}

}  // namespace

void Session::Later(std::function<void(Session&)> task) {
  tasks_.Post([self = shared_from_this(), task = std::move(task)] { task(*self); });
}

void Session::LaterFor(const v1::WorkerRequest& request, RequestTask task) {
  Later([request = Shared(request), task](Session& self) { (self.*task)(*request); });
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
  const std::optional<WorkerMessage> message = MessageOf(request);
  if (!message.has_value()) return outbox_.Send(Refusal(request, Unknown(request)));
  std::optional<v1::WorkerEvent> answer;
  {
    MutexLock lock(mutex_);
    answer = Take(*message) ? Act(*message, request, received) : Refusal(request, NotNow(request));
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
      *answer.mutable_progress() = ProgressFor(received);
      return answer;
    case WorkerMessage::kLeave:
      answer.mutable_left();
      return answer;
    case WorkerMessage::kArm:
      *answer.mutable_armed() = Arm(request.arm(), received);
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
      BeginCollect(request);
      return std::nullopt;
    case WorkerMessage::kInspect:
      LaterFor(request, &Session::Inspect);
      return std::nullopt;
    case WorkerMessage::kDataStep:
      LaterFor(request, &Session::DoDataStep);
      return std::nullopt;
    case WorkerMessage::kClientStep:
      LaterFor(request, &Session::DoClientStep);
      return std::nullopt;
    case WorkerMessage::kNetTest:
      LaterFor(request, &Session::DoNetTest);
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

v1::Progress Session::ProgressFor(WorkerTime received) const {
  v1::Progress progress = phase_ == nullptr ? v1::Progress() : phase_->Progress();
  *progress.mutable_pong() = PongFor(received);
  return progress;
}

// ------------------------------------------------------------------------------------------------- phases

PhaseRunner::EventTaker Session::EventTakerOfPhase() {
  return [weak = weak_from_this()](v1::WorkerEvent event) {
    const std::shared_ptr<Session> self = weak.lock();
    if (self == nullptr) return;
    self->Later([event = std::move(event)](Session& session) { session.SendOfPhase(event); });
  };
}

void Session::SendOfPhase(const v1::WorkerEvent& event) {
  if (event.has_lanes_done()) {
    MutexLock lock(mutex_);
    if (!Take(WorkerMessage::kLanesDone)) return;  // disarmed meanwhile
  }
  outbox_.Send(event);
}

void Session::BeginPhase(const v1::WorkerRequest& request) {
  const Phase previous = std::move(phase_);
  phase_ = std::make_shared<PhaseRunner>(request.prepare(), clock_, facts_.loop_ns(), EventTakerOfPhase());
  Later([request = Shared(request), phase = phase_, previous](Session& self) {
    self.Prepare(*request, phase, previous);
  });
}

void Session::Prepare(const v1::WorkerRequest& request, const Phase& phase, const Phase& previous) {
  if (previous != nullptr) previous->WaitForLanes(INT64_MAX);
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
  Take(WorkerMessage::kArmed);
  Later([phase = phase_](Session&) { phase->NoteStart(); });
  return armed;
}

void Session::BeginDisarm(const v1::WorkerRequest& request) {
  if (phase_ != nullptr) phase_->Cancel();
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

void Session::BeginCollect(const v1::WorkerRequest& request) {
  Later([request = Shared(request), phase = phase_](Session& self) { self.Collect(*request, phase); });
}

void Session::Collect(const v1::WorkerRequest& request, const Phase& phase) {
  std::vector<WorkerTime> instants;
  for (const int64_t ns : request.collect().instants_worker_ns()) instants.push_back({ns});
  const absl::Status collected = phase->Collect(instants, [&](v1::ResultChunk chunk) {
    if (chunk.last()) {  // the next request may follow at once
      MutexLock lock(mutex_);
      if (phase_ == phase) Take(WorkerMessage::kCollected);
    }
    v1::WorkerEvent event = ReplyTo(request);
    *event.mutable_chunk() = std::move(chunk);
    outbox_.Send(std::move(event));
  });
  if (!collected.ok()) return outbox_.Send(Refusal(request, collected));
  if (phase->WaitForLanes(INT64_MAX)) phase->CloseDirectories();
}

// -------------------------------------------------------------------------------------------------- files

void Session::Inspect(const v1::WorkerRequest& request) {
  v1::WorkerEvent event = ReplyTo(request);
  for (const v1::Target& target : request.inspect().targets()) {
    *event.mutable_inspected()->add_targets() = ProbeTarget(target.path(), facts_.boot_id());
  }
  if (request.inspect().demands().has_stripe()) {
    for (const v1::Target& target : request.inspect().targets()) {
      const absl::Status can = CheckStripe(target.path());
      if (!can.ok()) *event.mutable_inspected()->add_problems() = ToProblem(can);
    }
  }
  for (const std::string& file : request.inspect().existing_files()) {
    *event.mutable_inspected()->add_existing_files() = ProbeExistingFile(file);
  }
  for (const absl::Status& unmet : UnmetDemands(request.inspect().demands())) {
    *event.mutable_inspected()->add_problems() = ToProblem(unmet);
  }
  outbox_.Send(std::move(event));
}

void Session::DoNetTest(const v1::WorkerRequest& request) {
  absl::StatusOr<v1::NetTested> tested = TakePartInNetTest(request.net_test());
  if (!tested.ok()) return outbox_.Send(Refusal(request, tested.status()));
  v1::WorkerEvent event = ReplyTo(request);
  *event.mutable_net_tested() = *std::move(tested);
  outbox_.Send(std::move(event));
}

void Session::DoClientStep(const v1::WorkerRequest& request) {
  const v1::Step& step = request.client_step().step();
  if (!step.has_remount()) {
    return outbox_.Send(Refusal(request, absl::UnimplementedError("this worker does not know this step")));
  }
  const int64_t begin_ns = MonotonicNowNs();
  const absl::StatusOr<std::string> outcome = Remount(step.remount().mount_point());
  if (!outcome.ok()) return outbox_.Send(Refusal(request, outcome.status()));
  v1::WorkerEvent event = ReplyTo(request);
  v1::StepResult& done = *event.mutable_client_step_done()->mutable_step();
  done.set_name("remount");
  done.set_seconds(SecondsFrom(MonotonicNowNs() - begin_ns));
  done.set_outcome(*outcome);
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

void Session::Shutdown() {
  outbox_.Close();
  Phase phase;
  {
    MutexLock lock(mutex_);
    phase = phase_;
    Take(WorkerMessage::kDisarm);
  }
  if (phase != nullptr) phase->Cancel();
  const int64_t until_ns = MonotonicNowNs() + kPatienceNs;
  if (phase != nullptr && !phase->WaitForLanes(until_ns)) {
    spdlog::warn("abandoned lanes that hang in the kernel");
  }
  if (!tasks_.Close(until_ns)) spdlog::warn("abandoned an access to a hung file system");
}

}  // namespace iobench

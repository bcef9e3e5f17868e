#include "worker/session.h"

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

}  // namespace

const char* Session::NameOf(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kPreparing:
      return "preparing a phase";
    case State::kPrepared:
      return "prepared";
    case State::kRunning:
      return "running a phase";
    case State::kDone:
      return "done with a phase";
    case State::kDisarming:
      return "disarming";
  }
  return "";
}

absl::Status Session::NotNow(const char* what) const {
  return absl::FailedPreconditionError(absl::StrCat(what, " while the worker is ", NameOf(state_)));
}

v1::Pong Session::PongFor(WorkerTime received) const {
  v1::Pong pong;
  pong.set_received_worker_ns(received.ns);
  pong.set_replied_worker_ns(clock_.Now().ns);
  return pong;
}

void Session::Later(std::function<void(Session&)> task) {
  tasks_.Post([self = shared_from_this(), task = std::move(task)] { task(*self); });
}

void Session::Handle(const v1::WorkerRequest& incoming, EventSink& sink, WorkerTime received) {
  outbox_.Connect(sink);
  if (incoming.has_ping()) {
    v1::WorkerEvent event = ReplyTo(incoming);
    *event.mutable_pong() = PongFor(received);
    return outbox_.Send(std::move(event));
  }
  if (incoming.has_poll()) return HandlePoll(incoming, received);
  if (incoming.has_arm()) return HandleArm(incoming, received);
  const auto request = std::make_shared<const v1::WorkerRequest>(incoming);
  switch (request->body_case()) {
    case v1::WorkerRequest::kInspect:
      return Later([request](Session& self) { self.Inspect(*request); });
    case v1::WorkerRequest::kDataStep:
      return HandleDataStep(request);
    case v1::WorkerRequest::kClientStep:
      return HandleWhenIdle(request, "ClientStep", &Session::DoClientStep);
    case v1::WorkerRequest::kNetTest:
      return HandleWhenIdle(request, "NetTest", &Session::DoNetTest);
    case v1::WorkerRequest::kPrepare:
      return HandlePrepare(request);
    case v1::WorkerRequest::kAdjust:
      return HandleAdjust(request);
    case v1::WorkerRequest::kCollect:
      return HandleCollect(request);
    case v1::WorkerRequest::kLeave: {
      v1::WorkerEvent event = ReplyTo(*request);
      event.mutable_left();
      return outbox_.Send(std::move(event));
    }
    default:
      return outbox_.Send(
          Refusal(*request, absl::UnimplementedError("this worker does not know this request")));
  }
}

void Session::HandlePoll(const v1::WorkerRequest& request, WorkerTime received) {
  v1::WorkerEvent event = ReplyTo(request);
  Phase phase;
  {
    MutexLock lock(mutex_);
    phase = phase_;
  }
  *event.mutable_progress() = phase == nullptr ? v1::Progress() : phase->Progress();
  *event.mutable_progress()->mutable_pong() = PongFor(received);
  outbox_.Send(std::move(event));
}

// ------------------------------------------------------------------------------------------------- phases

PhaseRunner::EventTaker Session::EventTakerFor(uint64_t run_id) {
  return [weak = weak_from_this(), run_id](v1::WorkerEvent event) {
    const std::shared_ptr<Session> self = weak.lock();
    if (self == nullptr) return;
    event.set_run_id(run_id);
    self->Later([event = std::move(event)](Session& session) { session.SendOfPhase(event); });
  };
}

void Session::SendOfPhase(const v1::WorkerEvent& event) {
  if (event.has_lanes_done()) {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) return;  // disarmed meanwhile
    state_ = State::kDone;
  }
  outbox_.Send(event);
}

void Session::HandlePrepare(const Request& request) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    if (state_ != State::kIdle) {
      refused = NotNow("Prepare");
    } else {
      state_ = State::kPreparing;
      quitting_ = collected_ = false;
      const Phase previous = std::move(phase_);
      phase_ = std::make_shared<PhaseRunner>(request->prepare(), clock_, facts_.loop_ns(),
                                             EventTakerFor(request->run_id()));
      Later([request, phase = phase_, previous](Session& self) { self.Prepare(*request, phase, previous); });
    }
  }
  if (!refused.ok()) outbox_.Send(Refusal(*request, refused));
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
    if (state_ == State::kPreparing) {  // otherwise disarmed meanwhile
      state_ = prepared.ok() ? State::kPrepared : State::kIdle;
      if (!prepared.ok()) phase_.reset();
    }
  }
  if (!prepared.ok()) return outbox_.Send(Refusal(request, prepared.status()));
  v1::WorkerEvent event = ReplyTo(request);
  *event.mutable_prepared() = *std::move(prepared);
  outbox_.Send(std::move(event));
}

void Session::HandleArm(const v1::WorkerRequest& request, WorkerTime received) {
  v1::WorkerEvent event = ReplyTo(request);
  {
    MutexLock lock(mutex_);
    if (state_ != State::kPrepared) {
      event = Refusal(request, NotNow("Arm"));
    } else {
      *event.mutable_armed() = phase_->Arm(request.arm(), received);
      if (!event.armed().late()) {
        state_ = State::kRunning;
        Later([phase = phase_](Session&) { phase->NoteStart(); });
      }
    }
  }
  outbox_.Send(std::move(event));
}

void Session::HandleAdjust(const Request& request) {
  const v1::Adjust& adjust = request->adjust();
  v1::WorkerEvent event = ReplyTo(*request);
  event.mutable_adjusted();
  {
    MutexLock lock(mutex_);
    if (adjust.body_case() == v1::Adjust::BODY_NOT_SET) {
      event = Refusal(*request, absl::InvalidArgumentError("Adjust without a body"));
    } else if (adjust.has_disarm()) {
      if (phase_ != nullptr) phase_->Cancel();
      state_ = State::kDisarming;
      return Later([request, phase = phase_](Session& self) { self.Disarm(*request, phase); });
    } else if (state_ != State::kRunning && state_ != State::kDone) {
      event = Refusal(*request, NotNow("Adjust"));
    } else if (adjust.has_ops_goal()) {
      phase_->SetGoal(adjust.ops_goal());
    } else if (adjust.has_quit()) {
      quitting_ = true;
      phase_->Quit();
    } else {
      phase_->Stop();
    }
  }
  outbox_.Send(std::move(event));
}

void Session::Disarm(const v1::WorkerRequest& request, const Phase& phase) {
  if (phase != nullptr && phase->WaitForLanes(INT64_MAX)) phase->CloseDirectories();
  {
    MutexLock lock(mutex_);
    if (phase_ == phase) {  // otherwise disarmed twice, and prepared again since
      phase_.reset();
      state_ = State::kIdle;
    }
  }
  v1::WorkerEvent event = ReplyTo(request);
  event.mutable_adjusted();
  outbox_.Send(std::move(event));
}

void Session::HandleCollect(const Request& request) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    const bool again = state_ == State::kIdle && phase_ != nullptr && collected_;
    const bool ending = state_ == State::kRunning && quitting_;
    if (state_ == State::kDone || again || ending) {
      Later([request, phase = phase_](Session& self) { self.Collect(*request, phase); });
    } else {
      refused = NotNow("Collect");
    }
  }
  if (!refused.ok()) outbox_.Send(Refusal(*request, refused));
}

void Session::Collect(const v1::WorkerRequest& request, const Phase& phase) {
  std::vector<WorkerTime> instants;
  for (const int64_t ns : request.collect().instants_worker_ns()) instants.push_back({ns});
  const absl::Status collected = phase->Collect(instants, [&](v1::ResultChunk chunk) {
    if (chunk.last()) {  // the next request may follow at once
      MutexLock lock(mutex_);
      if (phase_ == phase && state_ == State::kDone) state_ = State::kIdle;
      collected_ = true;
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

void Session::HandleDataStep(const Request& request) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    const bool ending = state_ == State::kRunning && quitting_;
    if (state_ == State::kIdle || state_ == State::kDone || ending) {
      Later([request](Session& self) { self.DoDataStep(*request); });
    } else {
      refused = NotNow("DataStep");
    }
  }
  if (!refused.ok()) outbox_.Send(Refusal(*request, refused));
}

void Session::HandleWhenIdle(const Request& request, const char* what,
                             void (Session::*task)(const v1::WorkerRequest&)) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kIdle) {
      Later([request, task](Session& self) { (self.*task)(*request); });
    } else {
      refused = NotNow(what);
    }
  }
  if (!refused.ok()) outbox_.Send(Refusal(*request, refused));
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
    if (quitting_) phase = phase_;  // a run that ends early: its files are no longer in use, or soon will not be
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
    state_ = State::kDisarming;
  }
  if (phase != nullptr) phase->Cancel();
  const int64_t until_ns = MonotonicNowNs() + kPatienceNs;
  if (phase != nullptr && !phase->WaitForLanes(until_ns)) {
    spdlog::warn("abandoned lanes that hang in the kernel");
  }
  if (!tasks_.Close(until_ns)) spdlog::warn("abandoned an access to a hung file system");
}

}  // namespace iobench

#include <grpcpp/grpcpp.h>

#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc_address.h"
#include "common/transport/join_error.h"
#include "iobench/v1/coordinator_service.grpc.pb.h"

namespace iobench {
namespace {

constexpr int64_t kLookNs = 50'000'000;  // interval for checking the stop flag and timeouts
constexpr int64_t kRedialNs = 200'000'000;
constexpr int64_t kSayFirstNs = 1'000'000'000;
constexpr int64_t kSayApartNs = 30'000'000'000;
constexpr int64_t kFarewellNs = 5'000'000'000;

// Wakes the thread that runs the workers when one of its links changes.
class Bell {
 public:
  void Ring() {
    {
      MutexLock lock(mutex_);
      rung_ = true;
    }
    rang_.NotifyOne();
  }
  void WaitUntil(int64_t until_ns) {
    MutexLock lock(mutex_);
    rang_.WaitUntil(mutex_, until_ns, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return rung_; });
    rung_ = false;
  }

 private:
  Mutex mutex_;
  CondVar rang_;
  bool rung_ ABSL_GUARDED_BY(mutex_) = false;
};

// One attempt to join and, if successful, the worker's stream. gRPC calls each kind of On… one at a time, on its own
// threads. REQUIRES: WaitDone() has returned true before destruction.
class WorkerLink final : public grpc::ClientBidiReactor<v1::WorkerEvent, v1::WorkerRequest>,
                         public EventSink {
 public:
  struct State {
    bool accepted = false;  // the coordinator has accepted the stream
    bool left = false;      // Leave has been handled
    std::string leave_reason;
    bool done = false;    // nothing more will be sent or received
    grpc::Status status;  // valid once done
  };

  WorkerLink(v1::Coordinator::Stub& stub, WorkerHandler& handler, Bell& bell)
      : handler_(handler), bell_(bell) {
    stub.async()->Join(&context_, this);
  }

  void Dial(const v1::WorkerFacts& facts) {
    MutexLock handling_lock(handling_);
    MutexLock lock(mutex_);
    GiveToGrpc(this);
    AddHold();  // events are written from threads other than gRPC's
    StartRead(&incoming_);
    StartCall();
    outgoing_.emplace_back();
    *outgoing_.back().mutable_joined() = facts;
    WriteNext();
  }

  State state() {
    MutexLock lock(mutex_);
    return state_;
  }

  void Send(v1::WorkerEvent event) override {
    MutexLock lock(mutex_);
    if (!open_) return;
    outgoing_.push_back(std::move(event));
    WriteNext();
  }

  // After this returns, the handler gets no more requests.
  void StopHandling() {
    MutexLock lock(handling_);
    handles_ = false;
  }

  // Sent events are still written; then the coordinator is told that there are no more.
  void CloseAfterWrites() {
    MutexLock lock(mutex_);
    closing_ = true;
    CloseWhenWritten();
  }

  void HangUp() { context_.TryCancel(); }

  bool WaitDone(int64_t until_ns) {
    MutexLock lock(mutex_);
    return became_done_.WaitUntil(mutex_, until_ns,
                                  [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return state_.done; });
  }

  void OnReadInitialMetadataDone(bool ok) override {
    Reaction reaction(this);
    MutexLock lock(mutex_);
    if (!ok || context_.GetServerInitialMetadata().count(kAcceptedKey) == 0) return;
    state_.accepted = true;
    bell_.Ring();
  }

  void OnReadDone(bool ok) override {
    Reaction reaction(this);
    if (!ok) {
      MutexLock lock(mutex_);
      outgoing_.resize(writing_ ? 1 : 0);
      LetGo();
      return;
    }
    MutexLock handling_lock(handling_);
    if (handles_) handler_.Handle(incoming_, *this);
    if (incoming_.has_leave()) {
      handles_ = false;
      MutexLock lock(mutex_);
      state_.left = true;
      state_.leave_reason = incoming_.leave().reason();
      bell_.Ring();
    }
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    Reaction reaction(this);
    MutexLock lock(mutex_);
    writing_ = false;
    outgoing_.pop_front();
    if (!ok) {
      outgoing_.clear();
      LetGo();
      return;
    }
    if (open_) WriteNext();
    CloseWhenWritten();
  }

  void OnDone(const grpc::Status& status) override {
    Reaction reaction(this);
    // Holds the lock throughout: this object may be destroyed as soon as `done` is visible.
    MutexLock lock(mutex_);
    state_.done = true;
    state_.status = status;
    became_done_.NotifyAll();
    bell_.Ring();
  }

 private:
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || outgoing_.empty()) return;
    writing_ = true;
    StartWrite(&outgoing_.front());
  }

  void CloseWhenWritten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!closing_ || !open_ || writing_) return;
    StartWritesDone();
    LetGo();
  }

  // No write starts after this, so gRPC may end the call.
  void LetGo() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!open_) return;
    open_ = false;
    RemoveHold();
  }

  WorkerHandler& handler_;
  Bell& bell_;
  grpc::ClientContext context_;

  Mutex handling_;  // gRPC passes the stream from thread to thread; taken before mutex_
  v1::WorkerRequest incoming_ ABSL_GUARDED_BY(handling_);  // gRPC's between StartRead and OnReadDone
  bool handles_ ABSL_GUARDED_BY(handling_) = true;

  Mutex mutex_;
  CondVar became_done_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::WorkerEvent> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is gRPC's while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

std::shared_ptr<grpc::Channel> MakeChannel(const GrpcAddress& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kUnlimitedBytes);
  arguments.SetMaxSendMessageSize(kUnlimitedBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepalivePingMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // With several workers in one process, each has its own connection, as separate processes would.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A stream cannot be retried once the coordinator knows the worker; the retry buffer would only cost copies.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Many clusters set http_proxy, which is meant for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address.ToDial(), grpc::InsecureChannelCredentials(), arguments);
}

// One worker, from its first attempt to join to its end.
class Seat {
 public:
  Seat(const GrpcAddress& address, WorkerHandler& handler, const GrpcWorkerOptions& options, Bell& bell)
      : address_(address.ForPeople()),
        handler_(handler),
        options_(options),
        bell_(bell),
        facts_(handler.Facts()),
        channel_(MakeChannel(address)),
        stub_(v1::Coordinator::NewStub(channel_)),
        begin_ns_(MonotonicNowNs()),
        join_until_ns_(begin_ns_ + NanosFrom(options.join_timeout_s)),
        say_at_ns_(begin_ns_ + kSayFirstNs) {
    Dial();
  }

  bool ended() const { return ended_; }
  const absl::Status& status() const { return status_; }

  // Checks for changes and acts on them. At the end, blocks for the handler's Shutdown.
  void Step() {
    const WorkerLink::State state = link_ != nullptr ? link_->state() : WorkerLink::State();
    if (state.left) {
      return End(state.leave_reason.empty() ? absl::OkStatus()
                                            : absl::FailedPreconditionError(state.leave_reason));
    }
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
      return End(absl::CancelledError("the worker was stopped"));
    }
    if (state.accepted) {
      if (!state.done) return;
      return End(absl::UnavailableError(
          absl::StrCat("lost the coordinator at ", address_, ": ", state.status.error_message())));
    }
    if (state.done) {
      last_error_ = JoinErrorForPeople(state.status.error_message(),
                                       state.status.error_code() == grpc::StatusCode::UNIMPLEMENTED);
      link_.reset();
      redial_at_ns_ = MonotonicNowNs() + kRedialNs;
    }
    const int64_t now_ns = MonotonicNowNs();
    if (now_ns >= join_until_ns_) {
      return End(absl::UnavailableError(absl::StrCat("no coordinator at ", address_, " within ",
                                                     options_.join_timeout_s, " s",
                                                     last_error_.empty() ? "" : ": ", last_error_)));
    }
    if (link_ == nullptr && now_ns >= redial_at_ns_) Dial();
    if (now_ns < say_at_ns_) return;
    say_at_ns_ = now_ns + kSayApartNs;
    if (options_.on_waiting != nullptr) options_.on_waiting(SecondsFrom(now_ns - begin_ns_), last_error_);
  }

 private:
  void Dial() {
    link_ = std::make_unique<WorkerLink>(*stub_, handler_, bell_);
    link_->Dial(facts_);
  }

  void End(absl::Status status) {
    status_ = std::move(status);
    ended_ = true;
    if (link_ != nullptr) link_->StopHandling();
    handler_.Shutdown();
    if (link_ == nullptr) return;
    const bool is_polite = status_.ok() || absl::IsFailedPrecondition(status_);
    if (is_polite) link_->CloseAfterWrites();
    if (!is_polite || !link_->WaitDone(MonotonicNowNs() + kFarewellNs)) {
      link_->HangUp();
      link_->WaitDone(INT64_MAX);
    }
    link_.reset();
  }

  const std::string address_;
  WorkerHandler& handler_;
  const GrpcWorkerOptions& options_;
  Bell& bell_;
  const v1::WorkerFacts facts_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  const int64_t begin_ns_;
  const int64_t join_until_ns_;
  int64_t say_at_ns_;
  int64_t redial_at_ns_ = 0;
  std::string last_error_;
  std::unique_ptr<WorkerLink> link_;  // null between two attempts
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace

absl::Status RunGrpcWorker(const std::string& address, WorkerHandler& handler,
                           const GrpcWorkerOptions& options) {
  WorkerHandler* const handlers[] = {&handler};
  return RunGrpcWorkers(address, handlers, options);
}

absl::Status RunGrpcWorkers(const std::string& address, std::span<WorkerHandler* const> handlers,
                            const GrpcWorkerOptions& options) {
  QuietGrpcLog();
  if (handlers.size() > 1) AllowManyConnections();
  absl::StatusOr<GrpcAddress> parsed = ParseGrpcAddress(address);
  if (!parsed.ok()) return parsed.status();
  Bell bell;
  std::vector<std::unique_ptr<Seat>> seats;
  for (WorkerHandler* handler : handlers)
    seats.push_back(std::make_unique<Seat>(*parsed, *handler, options, bell));
  absl::Status first_problem;
  while (!seats.empty()) {
    bell.WaitUntil(MonotonicNowNs() + kLookNs);
    for (const auto& seat : seats) {
      seat->Step();
      if (seat->ended() && first_problem.ok()) first_problem = seat->status();
    }
    std::erase_if(seats, [](const auto& seat) { return seat->ended(); });
  }
  return first_problem;
}

}  // namespace iobench

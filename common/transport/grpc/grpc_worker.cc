#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/text/units.h"
#include "common/transport/grpc/coordinator_channel.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/worker_mail.h"
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
// How many workers of one process may be joining at a time, so that none waits longer than a connection may.
constexpr size_t kDialingAtATime = 64;

// Wakes the thread that runs the workers, and says whose link has changed: with thousands of workers, checking all of
// them whenever one changes would take longer than their own work.
class Bell {
 public:
  void Ring(size_t seat) {
    {
      MutexLock lock(mutex_);
      rung_.push_back(seat);
    }
    rang_.NotifyOne();
  }
  std::vector<size_t> WaitUntil(int64_t until_ns) {
    MutexLock lock(mutex_);
    rang_.WaitUntil(mutex_, until_ns, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !rung_.empty(); });
    return std::exchange(rung_, {});
  }

 private:
  Mutex mutex_;
  CondVar rang_;
  std::vector<size_t> rung_ ABSL_GUARDED_BY(mutex_);
};

// One attempt to join and, if successful, a connection of the worker. gRPC calls each kind of On… one at a time, on its
// own threads. REQUIRES: WaitDone() has returned true before destruction.
class WorkerLink final : public grpc::ClientBidiReactor<v1::WorkerEvent, v1::WorkerRequest>,
                         public MailCarrier,
                         public std::enable_shared_from_this<WorkerLink> {
 public:
  struct State {
    bool accepted = false;  // the coordinator has accepted the stream
    bool left = false;      // Leave has been handled
    std::string leave_reason;
    bool done = false;    // nothing more will be sent or received
    grpc::Status status;  // valid once done
  };

  // `seat`: the number with which this link rings the bell.
  WorkerLink(const CoordinatorChannel& channel, WorkerHandler& handler, WorkerMail& mail, Bell& bell,
             size_t seat)
      : handler_(handler),
        mail_(mail),
        bell_(bell),
        seat_(seat),
        stub_(v1::Coordinator::NewStub(channel.channel())) {
    channel.AddMetadata(context_);
    context_.AddMetadata(kIdentityKey, mail.identity());
    if (const std::optional<uint64_t> received = mail.requests_received(); received.has_value()) {
      context_.AddMetadata(kReceivedKey, absl::StrCat(*received));
    }
    stub_->async()->Join(&context_, this);
  }

  void Dial() {
    MutexLock handling_lock(handling_);
    MutexLock lock(mutex_);
    GiveToGrpc(this);
    AddHold();  // events are written from threads other than gRPC's
    StartRead(&incoming_);
    StartCall();
  }

  State state() {
    MutexLock lock(mutex_);
    return state_;
  }

  void Kick() override {
    MutexLock lock(mutex_);
    WriteNext();
  }

  // After this returns, the handler gets no more requests.
  void StopHandling() {
    MutexLock lock(handling_);
    handles_ = false;
  }

  // Events sent so far are still written; then the coordinator is notified that there are no more.
  void CloseAfterWrites() {
    MutexLock lock(mutex_);
    closing_ = true;
    WriteNext();
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
    if (!ok) return;
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto accepted = metadata.find(kAcceptedKey);
    uint64_t events_received = 0;
    if (accepted == metadata.end() ||
        !absl::SimpleAtoi(absl::string_view(accepted->second.data(), accepted->second.size()),
                          &events_received)) {
      return;
    }
    if (!mail_.Attach(shared_from_this(), events_received)) return context_.TryCancel();
    MutexLock lock(mutex_);
    state_.accepted = true;
    WriteNext();
    CloseWhenWritten();
    bell_.Ring(seat_);
  }

  void OnReadDone(bool ok) override {
    Reaction reaction(this);
    if (!ok) {
      MutexLock lock(mutex_);
      LetGo();
      return;
    }
    MutexLock handling_lock(handling_);
    if (handles_ && !mail_.Receive(incoming_)) {
      handles_ = false;
      context_.TryCancel();
    }
    if (handles_) handler_.Handle(incoming_, mail_);
    if (incoming_.has_leave()) {
      handles_ = false;
      MutexLock lock(mutex_);
      state_.left = true;
      state_.leave_reason = incoming_.leave().reason();
      bell_.Ring(seat_);
    }
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    Reaction reaction(this);
    MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) return LetGo();
    WriteNext();
    CloseWhenWritten();
  }

  void OnDone(const grpc::Status& status) override {
    Reaction reaction(this);
    // Holds the lock throughout: this object may be destroyed as soon as `done` is visible.
    MutexLock lock(mutex_);
    state_.done = true;
    state_.status = status;
    became_done_.NotifyAll();
    bell_.Ring(seat_);
  }

 private:
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || !open_ || !state_.accepted) return;
    std::optional<v1::WorkerEvent> next = mail_.Take();
    if (!next.has_value()) return;
    outgoing_ = *std::move(next);
    writing_ = true;
    StartWrite(&outgoing_);
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
  WorkerMail& mail_;
  Bell& bell_;
  const size_t seat_;
  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  grpc::ClientContext context_;

  Mutex handling_;  // gRPC passes the stream from thread to thread; taken before mutex_
  v1::WorkerRequest incoming_ ABSL_GUARDED_BY(handling_);  // gRPC's between StartRead and OnReadDone
  bool handles_ ABSL_GUARDED_BY(handling_) = true;

  Mutex mutex_;
  CondVar became_done_;
  State state_ ABSL_GUARDED_BY(mutex_);
  v1::WorkerEvent outgoing_;  // gRPC's while writing_, otherwise under mutex_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool open_ ABSL_GUARDED_BY(mutex_) = true;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

// Another connection may continue where the last one broke, unless the coordinator has ended that with a status of its
// own. A broken connection is mostly Unavailable, but also Cancelled, Internal or Unknown, depending on what gRPC was
// doing.
bool IsBrokenConnection(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return true;
    default:
      return false;
  }
}

// What ended a connection: a status of the coordinator's own, or a message of gRPC's.
std::string TextOf(const grpc::Status& status) {
  const bool is_grpcs = IsBrokenConnection(status) || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  return is_grpcs ? BrokenConnectionText(status.error_message()) : status.error_message();
}

// Returns an empty text if the system provides no random bytes: the worker then cannot reconnect.
std::string NewIdentity() {
  const absl::StatusOr<Secret> identity = MakeToken();
  return identity.ok() ? identity->text() : std::string();
}

// One worker, from its first attempt to join to its end.
class Seat {
 public:
  Seat(const GrpcAddress& address, WorkerHandler& handler, const GrpcWorkerOptions& options, Bell& bell,
       size_t number)
      : address_(address.ToText()),
        handler_(handler),
        options_(options),
        bell_(bell),
        number_(number),
        mail_(NewIdentity()),
        channel_(address, options),
        reconnects_(!address.is_unix() && !mail_.identity().empty()),
        begin_ns_(MonotonicNowNs()),
        join_until_ns_(begin_ns_ + NanosFrom(options.join_timeout_s)),
        say_at_ns_(begin_ns_ + kSayFirstNs) {
    v1::WorkerEvent joined;
    *joined.mutable_joined() = handler.Facts();
    mail_.Send(std::move(joined));
    Dial();
  }
  // REQUIRES: ended().
  ~Seat() = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  bool joined() const { return joined_; }
  bool ended() const { return ended_; }
  const absl::Status& status() const { return status_; }

  // Checks for changes and acts on them. At the end, blocks for the handler's Shutdown.
  void Step() {
    const WorkerLink::State state = link_ != nullptr ? link_->state() : WorkerLink::State();
    if (says_farewell_) {
      if (state.done || MonotonicNowNs() >= farewell_until_ns_) HangUp();
      return;
    }
    if (state.left) {
      return End(state.leave_reason.empty() ? absl::OkStatus()
                                            : absl::FailedPreconditionError(state.leave_reason));
    }
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
      return End(absl::CancelledError("the worker was stopped"));
    }
    if (state.accepted) {
      if (!std::exchange(joined_, true) && options_.on_joined) options_.on_joined();
      broke_at_ns_ = 0;
      const absl::Status lease = handler_.CheckLease();
      if (!state.done && lease.ok()) return;
      if (!state.done) farewell_ = std::string(lease.message());
      if (!lease.ok() || !CanReconnect(state.status)) {
        return EndWithoutCoordinator(lease.ok() ? TextOf(state.status) : std::string(lease.message()));
      }
    }
    // The mail may be attached just before `state` shows it, so an attached mail alone does not mean that a connection
    // broke.
    const bool broke = broke_at_ns_ != 0 || (state.done && mail_.requests_received().has_value());
    if (broke) return Reconnect(state);
    if (state.done) {
      const grpc::Status refusal = state.status;
      link_.reset();
      if (absl::Status final = ReadRefusal(refusal); !final.ok()) return End(final);
      redial_at_ns_ = MonotonicNowNs() + kRedialNs;
    }
    const int64_t now_ns = MonotonicNowNs();
    if (now_ns >= join_until_ns_) {
      return End(absl::UnavailableError(absl::StrCat("no coordinator at ", address_, " within ",
                                                     FormatSeconds(options_.join_timeout_s),
                                                     last_error_.empty() ? "" : ": ", last_error_)));
    }
    if (link_ == nullptr && now_ns >= redial_at_ns_) Dial();
    if (now_ns < say_at_ns_) return;
    say_at_ns_ = now_ns + kSayApartNs;
    if (options_.on_waiting != nullptr) options_.on_waiting(SecondsFrom(now_ns - begin_ns_), last_error_);
  }

 private:
  bool CanReconnect(const grpc::Status& status) {
    return reconnects_ && mail_.lease_ns() > 0 && IsBrokenConnection(status);
  }

  void EndWithoutCoordinator(const std::string& why) {
    coordinator_gone_ = true;
    End(absl::UnavailableError(absl::StrCat("lost the coordinator at ", address_, ": ", why)));
  }

  // For a worker that has joined and has no connection now. Its lanes keep running.
  void Reconnect(const WorkerLink::State& state) {
    const int64_t now_ns = MonotonicNowNs();
    if (state.done) {
      last_error_ = TextOf(state.status);
      const bool can = CanReconnect(state.status);
      mail_.Detach();
      link_.reset();
      if (!can) return EndWithoutCoordinator(last_error_);
      redial_at_ns_ = now_ns + (broke_at_ns_ == 0 ? 0 : kRedialNs);
      if (broke_at_ns_ == 0) broke_at_ns_ = now_ns;
    }
    const int64_t patience_ns = mail_.lease_ns();
    if (!handler_.CheckLease().ok() || now_ns - broke_at_ns_ >= patience_ns) {
      return EndWithoutCoordinator(absl::StrCat(
          last_error_, ", and no other connection could be made within ", FormatSeconds(SecondsFrom(patience_ns))));
    }
    // With the credentials with which it joined: the next coordinator may have replaced the file, and reading it may
    // hang, on the thread that checks the lease.
    if (link_ == nullptr && now_ns >= redial_at_ns_) Connect();
  }

  void Dial() {
    if (const absl::Status ready = channel_.Refresh(); !ready.ok()) {
      last_error_ = std::string(ready.message());
      redial_at_ns_ = MonotonicNowNs() + kRedialNs;
      return;
    }
    Connect();
  }

  // REQUIRES: the channel has been refreshed.
  void Connect() {
    link_ = std::make_shared<WorkerLink>(channel_, handler_, mail_, bell_, number_);
    link_->Dial();
  }

  // Notes why an attempt to join has failed. Returns an error if further attempts would fail too, except if the
  // credentials have changed: they are read again before each attempt.
  absl::Status ReadRefusal(const grpc::Status& refusal) {
    const bool speaks_grpc = refusal.error_code() == grpc::StatusCode::UNIMPLEMENTED;
    const bool is_final = refusal.error_code() == grpc::StatusCode::UNAUTHENTICATED;
    const TlsFinding finding =
        speaks_grpc || is_final ? TlsFinding() : channel_.WhyNot(refusal.error_message());
    last_error_ = is_final              ? refusal.error_message()
                  : finding.why.empty() ? JoinErrorText(refusal.error_message(), speaks_grpc)
                                        : finding.why;
    if ((!is_final && !finding.is_final) || channel_.HasNewCredentials()) return absl::OkStatus();
    return absl::UnauthenticatedError(
        absl::StrCat("cannot join the coordinator at ", address_, ": ", last_error_));
  }

  // Does not wait for the coordinator's answer to the farewell, so that other workers in this process need not wait
  // either.
  void End(absl::Status status) {
    status_ = std::move(status);
    if (link_ != nullptr) link_->StopHandling();
    coordinator_gone_ ? handler_.Abandon() : handler_.Shutdown();
    // A worker that is stopped, or leaves a coordinator that is silent, says so, too: the coordinator, when it runs
    // again, does not wait for it to come back.
    if (!farewell_.empty()) {
      v1::WorkerEvent left;
      left.mutable_left()->set_reason(farewell_);
      mail_.Send(std::move(left));
    }
    const bool is_polite = status_.ok() || absl::IsFailedPrecondition(status_) || absl::IsCancelled(status_) ||
                           !farewell_.empty();
    if (link_ == nullptr || !is_polite) return HangUp();
    link_->CloseAfterWrites();
    says_farewell_ = true;
    farewell_until_ns_ = MonotonicNowNs() + kFarewellNs;
  }

  void HangUp() {
    ended_ = true;
    if (link_ != nullptr) {
      link_->HangUp();  // no effect if the call is done
      link_->WaitDone(INT64_MAX);
    }
    mail_.Detach();
    link_.reset();
  }

  const std::string address_;
  WorkerHandler& handler_;
  const GrpcWorkerOptions& options_;
  Bell& bell_;
  const size_t number_;
  WorkerMail mail_;
  CoordinatorChannel channel_;
  const bool reconnects_;
  const int64_t begin_ns_;
  const int64_t join_until_ns_;
  int64_t say_at_ns_;
  int64_t redial_at_ns_ = 0;
  std::string last_error_;
  int64_t broke_at_ns_ = 0;           // when the last connection broke; 0: there is one, or none yet
  std::shared_ptr<WorkerLink> link_;  // null between two attempts
  bool joined_ = false;
  bool says_farewell_ = false;  // the worker has left; its last events are being written
  int64_t farewell_until_ns_ = 0;
  bool ended_ = false;
  bool coordinator_gone_ = false;  // it disappeared without a Leave
  std::string farewell_;  // why the worker leaves although it has a connection, and nobody asked it to
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
  if (absl::Status status = PrepareGrpc(); !status.ok()) return status;
  if (handlers.size() > 1) AllowManyConnections();
  absl::StatusOr<GrpcAddress> parsed = ParseGrpcAddress(address);
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = CheckProtection(*parsed, options); !status.ok()) return status;
  Bell bell;
  std::vector<std::unique_ptr<Seat>> seats;  // null: its worker has ended
  size_t ended = 0, joined = 0;              // joined: includes workers that ended before joining
  absl::Status first_problem;
  const auto step = [&](size_t number) {
    if (number >= seats.size() || seats[number] == nullptr) return;
    Seat& seat = *seats[number];
    const bool was_dialing = !seat.joined();
    seat.Step();
    if (was_dialing && (seat.joined() || seat.ended())) ++joined;
    if (!seat.ended()) return;
    first_problem.Update(seat.status());
    seats[number].reset();
    ++ended;
  };
  int64_t look_at_ns = 0;
  while (ended < handlers.size()) {
    for (; seats.size() < handlers.size() && seats.size() - joined < kDialingAtATime;) {
      seats.push_back(std::make_unique<Seat>(*parsed, *handlers[seats.size()], options, bell, seats.size()));
    }
    for (const size_t number : bell.WaitUntil(look_at_ns)) step(number);
    if (MonotonicNowNs() < look_at_ns) continue;
    for (size_t number = 0; number < seats.size(); ++number) step(number);
    look_at_ns = MonotonicNowNs() + kLookNs;
  }
  return first_problem;
}

}  // namespace iobench

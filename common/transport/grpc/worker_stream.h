// One connection of a worker at the coordinator: the reactor that gRPC calls.
#ifndef COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_
#define COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc/worker_session.h"
#include "common/transport/grpc_address.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

class WorkerStream;

// The events that a stream reports to the coordinator, on any of gRPC's threads.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // Returns an error if this worker may not join.
  virtual absl::StatusOr<std::shared_ptr<WorkerSession>> AddWorker(WorkerStream& stream) = 0;
  virtual void TurnedAway(const std::string& address, const std::string& reason) = 0;
  // Called when the connection of this worker broke at `at`; the worker may come back within `lease_ns`.
  virtual void Broke(std::shared_ptr<WorkerSession> session, CoordTime at, int64_t lease_ns) = 0;
  // The stream's last call, which may destroy it.
  virtual void StreamDone(WorkerStream& stream) = 0;
};

// What a worker's call says about the worker.
struct CallFacts {
  std::string attempt;   // see kAttemptKey
  std::string identity;  // see kIdentityKey
};

// One connection of a worker, for its whole lifetime. gRPC calls each kind of On… one at a time, on its own threads.
class WorkerStream final : public grpc::ServerBidiReactor<v1::WorkerEvent, v1::WorkerRequest>,
                           public SessionStream {
 public:
  // `session`: that of a worker that comes back; null: the worker has not joined yet.
  WorkerStream(StreamObserver& observer, grpc::CallbackServerContext& context, CallFacts call,
               std::shared_ptr<WorkerSession> session)
      : observer_(observer),
        context_(context),
        address_(PeerForPeople(context.peer())),
        call_(std::move(call)),
        session_(std::move(session)) {}

  const std::string& address() const { return address_; }
  const CallFacts& call() const { return call_; }
  bool is_local() const { return context_.peer().starts_with("unix:"); }

  // `events_received`: how many of this worker's events arrived over earlier connections.
  void Start(uint64_t events_received) {
    MutexLock lock(mutex_);
    GiveToGrpc(this);
    context_.AddInitialMetadata(kAcceptedKey, absl::StrCat(events_received));
    StartSendInitialMetadata();
    StartRead(&incoming_);
    started_ = true;
    WriteNext();
  }

  void Kick() override {
    MutexLock lock(mutex_);
    WriteNext();
  }

  // Called when the coordinator is being destroyed: posted requests are still written, but nothing more is reported.
  void Dismiss() {
    MutexLock lock(mutex_);
    // Not Unavailable, after which the worker would try to come back.
    farewell_ = grpc::Status(grpc::StatusCode::ABORTED, "the coordinator has ended");
    ending_ = true;
    FinishWhenIdle();
  }

  void Cancel() override {
    MutexLock lock(mutex_);
    if (!done_) context_.TryCancel();
  }

  // Cancels the call, unless it has ended or its worker has joined.
  void BreakOffIfNotJoined() {
    MutexLock lock(mutex_);
    if (done_ || session_ != nullptr) return;
    observer_.TurnedAway(address_, "its worker did not say who it is");
    context_.TryCancel();
  }

  void OnReadDone(bool ok) override {
    const CoordTime received_at = CoordNow();
    Reaction reaction(this);
    MutexLock lock(mutex_);
    if (ok && TakeIncoming(received_at)) {
      StartRead(&incoming_);
      return;
    }
    const bool broke = !ok && context_.IsCancelled();
    if (ok) {
      if (lost_reason_.empty()) lost_reason_ = "it sent an event out of place";
      farewell_ = grpc::Status(refusal_code_, lost_reason_);
    } else if (lost_reason_.empty()) {
      lost_reason_ = broke ? "its connection broke" : "it hung up";
    }
    if (session_ == nullptr && !ending_) {
      observer_.TurnedAway(address_, absl::StrCat(lost_reason_, " before it joined"));
    }
    if (session_ != nullptr) {
      const int64_t lease_ns = session_->Detach(*this, broke, lost_reason_, received_at);
      if (lease_ns > 0) observer_.Broke(session_, received_at, lease_ns);
    }
    ending_ = true;
    FinishWhenIdle();
  }

  void OnWriteDone(bool ok) override {
    Reaction reaction(this);
    MutexLock lock(mutex_);
    writing_ = false;
    v1::WorkerRequest().Swap(&outgoing_);  // a Prepare is large, and the next request may be far
    // Not ok: the connection is broken. The pending read fails too and reports it.
    writable_ &= ok;
    WriteNext();
    FinishWhenIdle();
  }

  void OnDone() override {
    Reaction reaction(this);
    {
      MutexLock lock(mutex_);
      done_ = true;
    }
    observer_.StreamDone(*this);
  }

 private:
  // Returns false for an event that a worker may not send now.
  bool TakeIncoming(CoordTime received_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool joins = session_ == nullptr;
    if (incoming_.has_lost() || incoming_.has_reconnected() || incoming_.has_joined() != joins) return false;
    if (joins) {
      if (incoming_.ByteSizeLong() > kMaxJoinedBytes) {
        lost_reason_ = absl::StrCat("it sent ", incoming_.ByteSizeLong(), " bytes about itself");
        return false;
      }
      absl::StatusOr<std::shared_ptr<WorkerSession>> session = observer_.AddWorker(*this);
      if (!session.ok()) {
        lost_reason_ = std::string(session.status().message());
        if (absl::IsUnavailable(session.status())) refusal_code_ = grpc::StatusCode::UNAVAILABLE;
        return false;
      }
      incoming_.mutable_joined()->set_address(address_);
      session_ = *std::move(session);
    }
    if (session_->Receive(*this, std::move(incoming_), received_at)) return true;
    lost_reason_ = "it confirmed requests that were not sent";
    return false;
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!started_ || writing_ || !writable_ || finished_ || session_ == nullptr) return;
    std::optional<v1::WorkerRequest> next = session_->Take(*this);
    if (!next.has_value()) return;
    outgoing_ = *std::move(next);
    writing_ = true;
    StartWrite(&outgoing_);
  }

  void FinishWhenIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_ || writing_ || finished_) return;
    finished_ = true;
    Finish(farewell_);
  }

  StreamObserver& observer_;
  grpc::CallbackServerContext& context_;
  const std::string address_;
  const CallFacts call_;
  v1::WorkerEvent incoming_;  // gRPC's between StartRead and OnReadDone, otherwise under mutex_

  Mutex mutex_;
  v1::WorkerRequest outgoing_;  // gRPC's while writing_, otherwise under mutex_
  std::shared_ptr<WorkerSession> session_ ABSL_GUARDED_BY(mutex_);  // null: the worker has not joined
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool writable_ ABSL_GUARDED_BY(mutex_) = true;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;  // call Finish as soon as no write is pending
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;  // gRPC has forgotten the call
  std::string lost_reason_ ABSL_GUARDED_BY(mutex_);
  grpc::StatusCode refusal_code_ ABSL_GUARDED_BY(mutex_) = grpc::StatusCode::INVALID_ARGUMENT;
  grpc::Status farewell_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_WORKER_STREAM_H_

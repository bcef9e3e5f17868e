#include <grpcpp/grpcpp.h>

#include <cassert>
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/transport/event_queue.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc_address.h"
#include "iobench/v1/coordinator_service.grpc.pb.h"

namespace iobench {
namespace {

constexpr auto kFarewell = std::chrono::seconds(2);

class WorkerStream;

// The events that a stream reports to the coordinator, on any of gRPC's threads.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual WorkerId AddWorker(WorkerStream& stream) = 0;
  virtual void Received(ReceivedEvent event) = 0;
  // The stream's last call, which may destroy it.
  virtual void StreamDone(WorkerStream& stream) = 0;
};

// One worker's stream, during its whole life. gRPC calls each kind of On… one at a time, on its own threads.
class WorkerStream final : public grpc::ServerBidiReactor<v1::WorkerEvent, v1::WorkerRequest> {
 public:
  WorkerStream(StreamObserver& observer, grpc::CallbackServerContext& context)
      : observer_(observer), context_(context), address_(PeerForPeople(context.peer())) {}

  void Start() {
    GiveToGrpc(this);
    context_.AddInitialMetadata(kAcceptedKey, "1");
    StartSendInitialMetadata();
    StartRead(&incoming_);
  }

  absl::Status Post(const v1::WorkerRequest& request) {
    MutexLock lock(mutex_);
    if (ending_) return absl::UnavailableError(absl::StrCat("the worker at ", address_, " is gone"));
    if (request.has_leave()) leave_posted_ = true;
    outgoing_.push_back(request);
    WriteNext();
    return absl::OkStatus();
  }

  // The coordinator is being destroyed: posted requests are still written, but nothing is reported any more.
  void Dismiss() {
    MutexLock lock(mutex_);
    if (!leave_posted_) farewell_ = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the coordinator has ended");
    leave_posted_ = true;
    ending_ = true;
    FinishWhenIdle();
  }

  void OnReadDone(bool ok) override {
    const CoordTime received_at = CoordNow();
    Reaction reaction(this);
    MutexLock lock(mutex_);
    if (ok && TakeIncoming(received_at)) {
      StartRead(&incoming_);
      return;
    }
    if (ok) {
      lost_reason_ = "it sent an event out of place";
      farewell_ = grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, lost_reason_);
    } else if (lost_reason_.empty()) {
      lost_reason_ = context_.IsCancelled() ? "its connection broke" : "it hung up";
    }
    if (joined_ && !leave_posted_) {
      ReceivedEvent lost{id_, {}, received_at};
      lost.event.mutable_lost()->set_reason(absl::StrCat(address_, ": ", lost_reason_));
      observer_.Received(std::move(lost));
    }
    ending_ = true;
    // Nobody will read these. The one being written must stay until gRPC has released it.
    outgoing_.resize(writing_ ? 1 : 0);
    FinishWhenIdle();
  }

  void OnWriteDone(bool ok) override {
    Reaction reaction(this);
    MutexLock lock(mutex_);
    writing_ = false;
    outgoing_.pop_front();
    // Not ok: the connection is broken. The pending read fails too and reports it.
    if (!ok) outgoing_.clear();
    WriteNext();
    FinishWhenIdle();
  }

  void OnDone() override {
    Reaction reaction(this);
    observer_.StreamDone(*this);
  }

 private:
  // Returns false for an event that a worker may not send now.
  bool TakeIncoming(CoordTime received_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (incoming_.has_lost() || incoming_.has_joined() == joined_) return false;
    if (!joined_) {
      incoming_.mutable_joined()->set_address(address_);
      id_ = observer_.AddWorker(*this);
      joined_ = true;
    }
    observer_.Received({id_, std::move(incoming_), received_at});
    return true;
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || outgoing_.empty()) return;
    writing_ = true;
    StartWrite(&outgoing_.front());
  }

  void FinishWhenIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_ || writing_ || finished_) return;
    finished_ = true;
    Finish(farewell_);
  }

  StreamObserver& observer_;
  grpc::CallbackServerContext& context_;
  const std::string address_;
  v1::WorkerEvent incoming_;  // gRPC's between StartRead and OnReadDone, otherwise under mutex_

  Mutex mutex_;
  std::deque<v1::WorkerRequest> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is gRPC's while writing_
  WorkerId id_ ABSL_GUARDED_BY(mutex_) = 0;
  bool joined_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool leave_posted_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;  // call Finish as soon as no write is pending
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::string lost_reason_ ABSL_GUARDED_BY(mutex_);
  grpc::Status farewell_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

class GrpcCoordinator::Service final : public v1::Coordinator::CallbackService, public StreamObserver {
 public:
  ~Service() override {
    std::vector<std::shared_ptr<WorkerStream>> streams;
    {
      MutexLock lock(mutex_);
      closing_ = true;
      streams.assign(live_.begin(), live_.end());
    }
    for (const auto& stream : streams) stream->Dismiss();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kFarewell);
    MutexLock lock(mutex_);
    all_done_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return live_.empty(); });
  }

  absl::Status Listen(const GrpcAddress& address) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kUnlimitedBytes);
    builder.SetMaxSendMessageSize(kUnlimitedBytes);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepalivePingMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMinPingMs);
    // With gRPC's default, a second coordinator would silently share the port, and each would get some of the workers.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    int bound_port = 0;
    builder.AddListeningPort(address.ToListen(), grpc::InsecureServerCredentials(), &bound_port);
    builder.RegisterService(this);
    GiveToGrpc(this);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", address.ForPeople(),
                       address.is_unix() ? ": can a socket be made in that directory?"
                                         : ": is the port in use, or the address not of this host?"));
    }
    GrpcAddress bound = address;
    bound.port = bound_port;
    bound_address_ = bound.ForPeople();
    return absl::OkStatus();
  }

  grpc::ServerBidiReactor<v1::WorkerEvent, v1::WorkerRequest>* Join(
      grpc::CallbackServerContext* context) override {
    Reaction reaction(this);
    auto stream = std::make_shared<WorkerStream>(*this, *context);
    bool closing = false;
    {
      MutexLock lock(mutex_);
      live_.insert(stream);
      closing = closing_;
    }
    stream->Start();
    if (closing) stream->Dismiss();
    return stream.get();
  }

  WorkerId AddWorker(WorkerStream& stream) override {
    MutexLock lock(mutex_);
    joined_.push_back(Find(stream));
    return static_cast<WorkerId>(joined_.size() - 1);
  }

  void Received(ReceivedEvent event) override { events_.Push(std::move(event)); }

  void StreamDone(WorkerStream& stream) override {
    std::shared_ptr<WorkerStream> last_reference;  // dropped after the lock
    MutexLock lock(mutex_);
    last_reference = Find(stream);
    live_.erase(last_reference);
    if (live_.empty()) all_done_.NotifyAll();
  }

  std::shared_ptr<WorkerStream> Joined(WorkerId worker) {
    MutexLock lock(mutex_);
    return worker < joined_.size() ? joined_[worker] : nullptr;
  }

  EventQueue& events() { return events_; }
  const std::string& bound_address() const { return bound_address_; }

 private:
  struct ByAddress {
    using is_transparent = void;
    static const WorkerStream* At(const std::shared_ptr<WorkerStream>& stream) { return stream.get(); }
    static const WorkerStream* At(const WorkerStream* stream) { return stream; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::less<const WorkerStream*>()(At(a), At(b));
    }
  };

  std::shared_ptr<WorkerStream> Find(const WorkerStream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return *live_.find(&stream);
  }

  EventQueue events_;
  std::unique_ptr<grpc::Server> server_;
  std::string bound_address_;
  Mutex mutex_;
  CondVar all_done_;
  std::set<std::shared_ptr<WorkerStream>, ByAddress> live_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<WorkerStream>> joined_ ABSL_GUARDED_BY(mutex_);  // index = WorkerId
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<GrpcCoordinator>> GrpcCoordinator::Listen(const std::string& address,
                                                                         const GrpcListenOptions& options) {
  QuietGrpcLog();
  AllowManyConnections();
  absl::StatusOr<GrpcAddress> parsed = ParseGrpcAddress(address);
  if (!parsed.ok()) return parsed.status();
  if (parsed->reachable_from_elsewhere() && !options.insecure) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address,
                     ": no TLS yet: use --insecure on a trusted network or a loopback/Unix-socket address"));
  }
  auto service = std::make_unique<Service>();
  if (absl::Status status = service->Listen(*parsed); !status.ok()) return status;
  return std::unique_ptr<GrpcCoordinator>(new GrpcCoordinator(std::move(service)));
}

GrpcCoordinator::GrpcCoordinator(std::unique_ptr<Service> service) : service_(std::move(service)) {}
GrpcCoordinator::~GrpcCoordinator() = default;

const std::string& GrpcCoordinator::bound_address() const {
  return service_->bound_address();
}

absl::Status GrpcCoordinator::Post(WorkerId worker, const v1::WorkerRequest& request) {
  const std::shared_ptr<WorkerStream> stream = service_->Joined(worker);
  assert(stream != nullptr);
  return stream->Post(request);
}

absl::StatusOr<ReceivedEvent> GrpcCoordinator::WaitEvent(CoordTime deadline) {
  std::optional<ReceivedEvent> event = service_->events().PopUntil(deadline.ns);
  if (!event) return absl::DeadlineExceededError("no event of any worker");
  return *std::move(event);
}

}  // namespace iobench

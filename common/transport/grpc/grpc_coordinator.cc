#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/status_util.h"
#include "common/text/repeated_lines.h"
#include "common/text/units.h"
#include "common/transport/door/guess_limit.h"
#include "common/transport/door/unix_peer.h"
#include "common/transport/event_queue.h"
#include "common/transport/grpc/call_queue.h"
#include "common/transport/grpc/doorkeeper.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/join_credentials.h"
#include "common/transport/grpc/worker_session.h"
#include "common/transport/grpc/worker_stream.h"
#include "common/transport/grpc_address.h"
#include "common/transport/guard/connection_relay.h"
#include "common/transport/guard/server_tls.h"
#include "iobench/v1/coordinator_service.grpc.pb.h"

namespace iobench {
namespace {

constexpr auto kFarewell = std::chrono::seconds(2);
// A worker that was told to leave ends its lanes first.
constexpr int64_t kLeavingNs = 30 * kNanosPerSecond;
// A worker needs one stream; the second lets it try again before gRPC has forgotten its previous call.
constexpr int kMaxStreamsPerConnection = 2;
constexpr size_t kMaxAttemptBytes = 64;
// An identity is found by its first characters and compared as a whole.
constexpr size_t kIdentityNameBytes = 16;
constexpr size_t kMinIdentityBytes = 40;
constexpr int kSlackMs = 1'000;
// With many workers, the coordinator's thread takes events in batches, because being woken for each of some thousand
// events a second costs more than handling them. Events are stamped when they arrive, so clocks are not affected.
constexpr uint32_t kManyWorkers = 256;
constexpr int64_t kNapNs = 100'000;
// A thread more for relaying and one for gRPC pay off where processors would be idle. Both ends of a few workers' messages are
// rather served by one.
constexpr uint32_t kProcessorsPerThread = 4;
constexpr uint32_t kMaxServingThreads = 8;
// Connections that may wait to join, besides those of the workers.
constexpr size_t kStrangers = 256;

// A Unix socket's permissions are its owner's affair; without a token or certificates, the user is all that is known.
UnixPeer UnixPeerFor(const GrpcAddress& address, const JoinSecurity& security) {
  const bool is_proven = !security.token.empty() || security.asks_for_certificate || security.insecure;
  return address.is_unix() && !is_proven ? UnixPeer::kOwnOrRoot : UnixPeer::kAnybody;
}

// What gRPC cuts off the guard has refused before.
constexpr int kMaxMetadataBytes = 64 << 10;
constexpr int kMaxFrameBytes = 16 << 10;

uint32_t ThreadCountFor(const GrpcListenOptions& options) {
  if (options.serving_threads > 0) return options.serving_threads;
  if (options.expected_workers < kManyWorkers) return 1;
  return std::clamp<uint32_t>(std::thread::hardware_concurrency() / kProcessorsPerThread, 1, kMaxServingThreads);
}

absl::StatusOr<OwnedContext> TlsFor(const JoinSecurity& security) {
  if (!security.tls) return OwnedContext();
  return MakeServerContext({.certificate_pem = security.identity.certificate_pem,
                            .key_pem = security.identity.key_pem,
                            .client_ca_pem = security.asks_for_certificate ? security.identity.ca_pem : "",
                            .client_crl_pem = security.identity.crl_pem});
}

}  // namespace

class GrpcCoordinator::Service final : public StreamObserver {
 public:
  explicit Service(const GrpcListenOptions& options)
      : options_(options), turned_away_(options.on_turned_away) {}

  ~Service() override {
    if (doorkeeper_ != nullptr) doorkeeper_->Stop();
    // What has happened since its last tick.
    turned_away_.Tick(MonotonicNowNs());
    TellBroken();
    std::vector<std::shared_ptr<WorkerStream>> streams;
    {
      MutexLock lock(mutex_);
      closing_ = true;
      streams.assign(live_.begin(), live_.end());
    }
    for (const auto& stream : streams) stream->Dismiss();
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now() + kFarewell);
      MutexLock lock(mutex_);
      all_done_.Wait(mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return live_.empty(); });
    }
    for (const auto& queue : queues_) queue->Drain();
    server_.reset();  // closes its connections, which the relays then flush
    for (const auto& relay : relays_) relay->Stop();
  }

  absl::Status Listen(const GrpcAddress& address) {
    const UnixPeer unix_peer = UnixPeerFor(address, options_.security);
    if (unix_peer == UnixPeer::kOwnOrRoot) {
      absl::Status place = CheckDirectoryOfSocket(address.unix_path);
      if (absl::IsPermissionDenied(place)) return Annotate(place, absl::StrCat("cannot listen on ", address.ToText()));
    }
    auto sockets = ListeningSockets::Open(address);
    if (!sockets.ok()) return sockets.status();
    bound_address_ = sockets->bound().ToText();
    const uint32_t thread_count = ThreadCountFor(options_);
    while (relays_.size() < thread_count) {
      IOBENCH_ASSIGN_OR_RETURN(OwnedContext tls, TlsFor(options_.security));
      relays_.push_back(std::make_unique<ConnectionRelay>(ConnectionRelay::Options{
          .tls = std::move(tls),
          .max_event_bytes = options_.max_event_bytes,
          .admit = [this](int fd) { AddConnection(fd); },
          .ended = [this](const std::string& peer, const std::string& reason) { ConnectionEnded(peer, reason); }}));
    }
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(static_cast<int>(options_.max_event_bytes));
    builder.SetMaxSendMessageSize(kMaxRequestBytes);
    // The kernel detects dead connections (ListeningSockets). gRPC would set a timer anew for every message.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMinPingMs);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
    // None of these features is used, and each costs memory per connection and time per message.
    builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0);
    builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
    // The doorkeeper's own limit is shorter, and it also logs the reason.
    const int patience_ms = static_cast<int>(options_.join_within_s * 1e3) + kSlackMs;
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, patience_ms);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, patience_ms);  // without a call
    // Plain, because TLS ends in the relay.
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    while (queues_.size() < thread_count) {
      queues_.push_back(
          std::make_unique<CallQueue>(builder.AddCompletionQueue(), [this](CallQueue& queue) { AwaitCall(queue); }));
    }
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(absl::StrCat("gRPC cannot serve ", bound_address_));
    }
    for (const auto& queue : queues_) IOBENCH_RETURN_IF_ERROR(queue->Start());
    // Connections that arrive meanwhile wait in the kernel's queue.
    if (options_.on_bound != nullptr) {
      if (absl::Status status = options_.on_bound(); !status.ok()) return status;
    }
    doorkeeper_ = std::make_unique<Doorkeeper>(
        *std::move(sockets),
        Doorkeeper::Options{.tls = options_.security.tls,
                            .unix_peer = unix_peer,
                            .join_within_ns = NanosFrom(options_.join_within_s),
                            .max_waiting = kStrangers + 2 * size_t{options_.expected_workers},
                            .admit = [this](int fd, const std::string& peer) { RelayOf(peer).Add(fd, peer); },
                            .tick =
                                [this](int64_t now_ns) {
                                  BreakOffOverdue(now_ns);
                                  TellBroken();
                                }},
        turned_away_);
    GiveToGrpc(this);  // with the doorkeeper, which the queues' threads use; it admits the first connection
    for (const auto& relay : relays_) IOBENCH_RETURN_IF_ERROR(relay->Start());
    return doorkeeper_->Start();
  }

  // Checks the token first, so that nothing outlives the call of a caller without it.
  void Called(WorkerStream& stream) override {
    Reaction reaction(this);
    stream.queue().CallTaken();
    if (IsClosing()) stream.Dismiss();
    const Secret token = stream.Metadata(kTokenKey);
    CallFacts call{stream.Metadata(kAttemptKey), stream.Metadata(kIdentityKey)};
    std::shared_ptr<WorkerSession> session = SessionOf(call.identity);
    if (!options_.security.token.empty()) {
      // A worker that comes back has shown its identity, which nobody guesses.
      if (session == nullptr && !MayGuess(stream)) {
        return Refuse(stream, "too many wrong tokens came from its address: its next attempts may be looked at",
                      grpc::StatusCode::UNAVAILABLE);
      }
      if (token.empty()) return Refuse(stream, "the worker has no token: start it with the coordinator's --token-file");
      if (!TokensMatch(options_.security.token, token)) {
        {
          MutexLock lock(mutex_);
          guesses_.RecordWrong(stream.address(), MonotonicNowNs());
        }
        return Refuse(stream,
                      "the worker's token is not this run's: give it the coordinator's present --token-file");
      }
    }
    if (call.attempt.size() > kMaxAttemptBytes) return Refuse(stream, "its call is not a worker's");
    const bool is_identity =
        call.identity.size() >= kMinIdentityBytes && call.identity.size() <= kMaxAttemptBytes;
    if (!call.identity.empty() && !is_identity) return Refuse(stream, "its call is not a worker's");
    const std::string received = stream.Metadata(kReceivedKey);
    if (session != nullptr) {
      return TakeBack(stream, std::move(session), std::move(call), received);
    }
    if (!received.empty()) {
      return Refuse(stream,
                    "this coordinator does not know the worker: it was started anew, or has given it up",
                    grpc::StatusCode::NOT_FOUND);
    }
    if (const std::string why = WhyClosedNow(); !why.empty()) return Refuse(stream, why);
    {
      MutexLock lock(mutex_);
      silent_.push_back({MonotonicNowNs() + NanosFrom(options_.join_within_s), Find(stream)});
    }
    stream.Start(std::move(call), nullptr, 0);
  }

  absl::StatusOr<std::shared_ptr<WorkerSession>> AddWorker(WorkerStream& stream) override {
    std::shared_ptr<WorkerSession> session;
    {
      MutexLock lock(mutex_);
      const CallFacts& call = stream.call();
      const std::string name = call.identity.substr(0, kIdentityNameBytes);
      // An earlier attempt has succeeded after all. The next attempt continues its session.
      if (!name.empty() && by_identity_.contains(name)) return absl::UnavailableError("it has joined twice");
      if (!call.attempt.empty() && !attempts_.insert(call.attempt).second) {
        return absl::AlreadyExistsError("the same attempt to join was made before");
      }
      // Others may have joined since it called.
      if (const std::string why = WhyClosed(); !why.empty()) return absl::UnauthenticatedError(why);
      const bool reconnects = !name.empty() && !stream.is_local();
      session = std::make_shared<WorkerSession>(static_cast<WorkerId>(joined_.size()), stream.address(),
                                                reconnects, options_.max_event_bytes, events_);
      joined_.push_back(session);
      if (!name.empty()) by_identity_[name] = {call.identity, session};
      session->Attach(Find(stream), 0, CoordNow()).status().IgnoreError();  // a first Attach cannot fail
      by_peer_[stream.address()] = session;
    }
    doorkeeper_->Joined(stream.address());
    return session;
  }

  void Broke(std::shared_ptr<WorkerSession> session, CoordTime at, int64_t lease_ns) override {
    MutexLock lock(mutex_);
    if (closing_) return;
    broken_.push_back({at + lease_ns, at, session});
    broken_lines_.Add(session->address(),
                      absl::StrCat("the connection of the worker at ", session->address(),
                                   " broke; it is lost if it does not come back within ",
                                   FormatSeconds(SecondsFrom(lease_ns)), " (--lease)"),
                      MonotonicNowNs());
  }

  void TurnedAway(const std::string& address, const std::string& reason) override {
    turned_away_.Add(address, reason, MonotonicNowNs());
    doorkeeper_->Refused(address);
  }

  void AsksForMuch(const WorkerStream& stream) override {
    RelayOf(stream.address()).ExpectMuch(stream.address());
  }

  void StreamDone(WorkerStream& stream) override {
    std::shared_ptr<WorkerStream> last_reference;  // dropped after the lock
    MutexLock lock(mutex_);
    last_reference = Find(stream);
    live_.erase(last_reference);
    if (live_.empty()) all_done_.NotifyAll();
  }

  std::shared_ptr<WorkerSession> Joined(WorkerId worker) {
    MutexLock lock(mutex_);
    return worker < joined_.size() ? joined_[worker] : nullptr;
  }

  // Gives a worker that was told to leave some time to do so.
  void ExpectToLeave(const std::shared_ptr<WorkerSession>& session) {
    MutexLock lock(mutex_);
    leaving_.push_back({MonotonicNowNs() + kLeavingNs, session});
  }

  SessionEvents& events() { return events_; }
  // Unpacks an event that was taken out of events().
  std::optional<ReceivedEvent> Taken(std::optional<QueuedEvent> event) {
    if (!event) return std::nullopt;
    if (auto session = Joined(event->received.worker); session != nullptr) session->RecordTaken(*event);
    return std::move(event->received);
  }
  bool has_many_workers() const { return options_.expected_workers >= kManyWorkers; }
  const std::string& bound_address() const { return bound_address_; }

 private:
  template <typename Thing>
  struct Due {
    int64_t at_ns = 0;
    std::weak_ptr<Thing> thing;
  };
  struct BrokenSession {
    CoordTime until;
    CoordTime broke_at;
    std::shared_ptr<WorkerSession> session;
  };
  struct KnownIdentity {
    std::string identity;
    std::shared_ptr<WorkerSession> session;
  };
  struct ByAddress {
    using is_transparent = void;
    static const WorkerStream* At(const std::shared_ptr<WorkerStream>& stream) { return stream.get(); }
    static const WorkerStream* At(const WorkerStream* stream) { return stream; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::less<const WorkerStream*>()(At(a), At(b));
    }
  };

  // A worker that was dropped may not come back.
  void ConnectionEnded(const std::string& peer, const std::string& reason) {
    std::shared_ptr<WorkerSession> session;
    {
      MutexLock lock(mutex_);
      if (const auto found = by_peer_.find(peer); found != by_peer_.end()) {
        session = std::move(found->second);
        by_peer_.erase(found);
      }
    }
    if (session == nullptr) {
      doorkeeper_->Ended(peer, reason);
    } else if (!reason.empty()) {
      session->BreakOff(reason);
    }
  }

  // A connection stays with its relay.
  ConnectionRelay& RelayOf(const std::string& peer) {
    return *relays_[std::hash<std::string>()(peer) % relays_.size()];
  }

  bool MayGuess(const WorkerStream& stream) {
    MutexLock lock(mutex_);
    return guesses_.Allows(stream.address(), MonotonicNowNs());
  }

  bool IsClosing() {
    MutexLock lock(mutex_);
    return closing_;
  }

  // Why no worker joins that has not joined before; empty: it may.
  std::string WhyClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.why_closed != nullptr ? options_.why_closed(joined_.size()) : "";
  }
  std::string WhyClosedNow() {
    MutexLock lock(mutex_);
    return WhyClosed();
  }

  // Lets gRPC take one more call.
  void AwaitCall(CallQueue& queue) {
    // Not make_shared: references in silent_ would keep the memory of a stream that is done.
    const std::shared_ptr<WorkerStream> stream(
        new WorkerStream(*this, options_.max_event_bytes));
    MutexLock lock(mutex_);
    if (closing_) return;  // gRPC might forget a request that it gets while the server shuts down
    live_.insert(stream);
    stream->Await(service_, queue);
  }

  std::shared_ptr<WorkerStream> Find(const WorkerStream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return *live_.find(&stream);
  }

  std::shared_ptr<WorkerStream> Shared(const WorkerStream& stream) {
    MutexLock lock(mutex_);
    return Find(stream);
  }

  void AddConnection(int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor_->HandleNewConnection(&connection);
  }

  void Refuse(WorkerStream& stream, const std::string& reason,
              grpc::StatusCode code = grpc::StatusCode::UNAUTHENTICATED) {
    TurnedAway(stream.address(), reason);
    stream.Refuse(grpc::Status(code, reason));
  }

  // Returns the session of a worker that has joined before; null: there is none, or the identity is not the worker's.
  std::shared_ptr<WorkerSession> SessionOf(const std::string& identity) {
    MutexLock lock(mutex_);
    const auto found = by_identity_.find(identity.substr(0, kIdentityNameBytes));
    if (found == by_identity_.end() || !TokensMatch(found->second.identity, identity)) return nullptr;
    return found->second.session;
  }

  void TakeBack(WorkerStream& stream, std::shared_ptr<WorkerSession> session, CallFacts call,
                const std::string& received) {
    uint64_t requests_received = 0;
    if (!received.empty() && !absl::SimpleAtoi(received, &requests_received)) {
      return Refuse(stream, "its call is not a worker's");
    }
    // A replayed recording of a call repeats an earlier attempt.
    if (!IsNew(call.attempt)) return Refuse(stream, "the same attempt to join was made before");
    const absl::StatusOr<uint64_t> events_received =
        session->Attach(Shared(stream), requests_received, CoordNow());
    if (!events_received.ok()) {
      return Refuse(stream, std::string(events_received.status().message()), grpc::StatusCode::NOT_FOUND);
    }
    {
      MutexLock lock(mutex_);
      by_peer_[stream.address()] = session;
    }
    doorkeeper_->Joined(stream.address());
    stream.Start(std::move(call), std::move(session), *events_received);
  }

  bool IsNew(const std::string& attempt) {
    MutexLock lock(mutex_);
    return !attempt.empty() && attempts_.insert(attempt).second;
  }

  // Returns the next item that is due, or null. A queue is in the order of its times, since all its items wait equally
  // long.
  template <typename Thing>
  std::shared_ptr<Thing> NextOf(std::deque<Due<Thing>>& queue, int64_t now_ns) {
    MutexLock lock(mutex_);
    while (!queue.empty() && queue.front().at_ns <= now_ns) {
      std::shared_ptr<Thing> thing = queue.front().thing.lock();
      queue.pop_front();
      if (thing != nullptr) return thing;
    }
    return nullptr;
  }

  std::optional<BrokenSession> NextBroken() {
    MutexLock lock(mutex_);
    if (broken_.empty() || broken_.front().until > CoordNow()) return std::nullopt;
    std::optional<BrokenSession> next = std::move(broken_.front());
    broken_.pop_front();
    return next;
  }

  // Passes lines on to the user, not on the queue's thread, because output may block.
  void TellBroken() {
    std::vector<std::string> lines;
    {
      MutexLock lock(mutex_);
      lines = broken_lines_.Take(MonotonicNowNs());
    }
    if (options_.on_broken == nullptr) return;
    for (const std::string& line : lines) options_.on_broken(line);
  }

  void BreakOffOverdue(int64_t now_ns) {
    while (const auto stream = NextOf(silent_, now_ns)) stream->BreakOffIfNotJoined();
    while (const auto session = NextOf(leaving_, now_ns)) session->BreakOff("it did not leave");
    while (const auto next = NextBroken()) next->session->Expire(next->broke_at);
  }

  const GrpcListenOptions options_;
  TurnedAwayLog turned_away_;
  SessionEvents events_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::vector<std::unique_ptr<ConnectionRelay>> relays_;  // as the doorkeeper, they outlive the server, whose calls use them
  std::unique_ptr<Doorkeeper> doorkeeper_;
  RawService service_;
  std::vector<std::unique_ptr<CallQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;  // goes before its queues
  std::string bound_address_;
  Mutex mutex_;
  CondVar all_done_;
  GuessLimit guesses_ ABSL_GUARDED_BY(mutex_);
  std::set<std::shared_ptr<WorkerStream>, ByAddress> live_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<WorkerSession>> joined_ ABSL_GUARDED_BY(mutex_);  // the index is the WorkerId
  std::map<std::string, KnownIdentity> by_identity_ ABSL_GUARDED_BY(mutex_);    // by its first characters
  std::map<std::string, std::shared_ptr<WorkerSession>> by_peer_ ABSL_GUARDED_BY(mutex_);  // of present connections
  std::set<std::string> attempts_ ABSL_GUARDED_BY(mutex_);                      // of those that have joined
  std::deque<Due<WorkerStream>> silent_ ABSL_GUARDED_BY(mutex_);  // some of these have not joined
  std::deque<Due<WorkerSession>> leaving_ ABSL_GUARDED_BY(mutex_);
  std::deque<BrokenSession> broken_ ABSL_GUARDED_BY(mutex_);  // some of these have come back
  // Without a summary: a worker that does not come back is lost, and for those that do the run has one.
  RepeatedLines broken_lines_ ABSL_GUARDED_BY(mutex_){kFlappingPeriodNs, kMaxFlappingLines,
                                                     [](const RepeatedLines::LeftOut&) { return std::string(); }};
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<GrpcCoordinator>> GrpcCoordinator::Listen(const std::string& address,
                                                                         const GrpcListenOptions& options) {
  if (absl::Status status = PrepareGrpc(); !status.ok()) return status;
  AllowManyConnections();
  absl::StatusOr<GrpcAddress> parsed = ParseGrpcAddress(address);
  if (!parsed.ok()) return parsed.status();
  const JoinSecurity& security = options.security;
  if (parsed->reachable_from_elsewhere() && !security.insecure && !security.tls) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address, ": other hosts can reach it, so it needs TLS"));
  }
  auto service = std::make_unique<Service>(options);
  if (absl::Status status = service->Listen(*parsed); !status.ok()) return status;
  return std::unique_ptr<GrpcCoordinator>(new GrpcCoordinator(std::move(service)));
}

GrpcCoordinator::GrpcCoordinator(std::unique_ptr<Service> service) : service_(std::move(service)) {}
GrpcCoordinator::~GrpcCoordinator() = default;

const std::string& GrpcCoordinator::bound_address() const {
  return service_->bound_address();
}

absl::Status GrpcCoordinator::Post(WorkerId worker, const v1::WorkerRequest& request) {
  const std::shared_ptr<WorkerSession> session = service_->Joined(worker);
  if (session == nullptr) return absl::UnavailableError("the worker is gone");
  if (request.has_leave()) service_->ExpectToLeave(session);
  return session->Post(request);
}

bool GrpcCoordinator::MayComeBack(WorkerId worker) const {
  const std::shared_ptr<WorkerSession> session = service_->Joined(worker);
  return session != nullptr && session->MayComeBack();
}

absl::StatusOr<ReceivedEvent> GrpcCoordinator::WaitEvent(CoordTime deadline) {
  std::optional<ReceivedEvent> event = service_->Taken(service_->events().TryPop());
  if (!event && service_->has_many_workers() && deadline.ns - MonotonicNowNs() > 2 * kNapNs) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNapNs));
    event = service_->Taken(service_->events().TryPop());
  }
  if (!event) event = service_->Taken(service_->events().PopUntil(deadline.ns));
  if (!event) return absl::DeadlineExceededError("no event of any worker");
  return *std::move(event);
}

}  // namespace iobench

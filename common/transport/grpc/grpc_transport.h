// The gRPC transport. Workers connect to one port of the coordinator; each keeps one bidirectional stream for its
// lifetime. Only the sources behind this header use gRPC.
//
// Addresses: unix:/path · 127.0.0.1:9400 · [::1]:9400 · host:9400 · :9400 (all interfaces, IPv4 and IPv6).
#ifndef COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/join_security.h"
#include "common/transport/transport.h"

namespace iobench {

// About how many threads gRPC starts in a process on this host; the number grows with that of the processors (grpc_runtime.cc).
uint32_t GrpcThreadCount();
// About how many threads and processes a worker with so many lanes is: itself, its janitor, its tasks, its lanes, gRPC.
inline uint64_t ThreadsOfWorker(uint32_t lanes) {
  return 3 + uint64_t{lanes} + GrpcThreadCount();
}

struct GrpcListenOptions {
  // From MakeJoinSecurity for the same address. The default admits everybody and only suits Unix sockets and loopback.
  JoinSecurity security = {};
  // Max size of a message from a worker that has joined, and of all of its messages that wait to be handled. Before it
  // has joined, its messages have at most kMaxJoinedBytes.
  uint64_t max_event_bytes = 64 << 20;
  // A connection whose worker has not joined after this time is closed.
  double join_within_s = 10;
  // Workers that the run waits for. Twice as many connections plus 256 may wait to join; beyond that, the oldest are
  // closed.
  uint32_t expected_workers = 1;
  // How many threads relay bytes, and as many serve gRPC's queues. 0: by the numbers of workers and processors.
  uint32_t serving_threads = 0;
  // Called on gRPC's threads, without blocking, when a worker joins that has not joined before; `joined_count` did. Returns
  // why the run takes nobody else, which the worker is told, or an empty text. Workers that come back are not asked about.
  std::function<std::string(uint64_t joined_count)> why_closed = nullptr;
  // Called once, when this process has the address and before it serves a connection: for files that workers read to
  // join. An error ends Listen.
  std::function<absl::Status()> on_bound = nullptr;
  // Called on any thread for each connection that was turned away, with a line that gives its address and the reason.
  // Repeated ones are summed up (TurnedAwayLog).
  std::function<void(const std::string& line)> on_turned_away = nullptr;
  // Called on any thread when the connection of a worker that may come back breaks, with a line that says so.
  std::function<void(const std::string& line)> on_broken = nullptr;
};

// The coordinator's end (grpc_coordinator.cc). If the connection of a worker with a lease (Ping.lease_ms) breaks, the worker may come back
// within that time, which is reported as a Reconnected event; after that, it is lost. Without a lease, and on a Unix
// socket, where only the end of a process breaks a connection, it is lost at once. Workers get their ids in the order
// in which they join. Threads of its own queue the events and stamp them when they arrive. One thread calls Post and
// WaitEvent, which never block on a peer.
class GrpcCoordinator final : public Transport {
 public:
  // Starts to listen on `address`; port 0 selects a free port. InvalidArgument: malformed address. FailedPrecondition:
  // the address is neither loopback nor a Unix socket, and options.security has neither `tls` nor `insecure`.
  // PermissionDenied: a Unix socket without a token in a directory of another user (CheckDirectoryOfSocket).
  // Unavailable: cannot listen there (port in use, not a local address, no such directory). Otherwise the error of
  // options.on_bound.
  static absl::StatusOr<std::unique_ptr<GrpcCoordinator>> Listen(const std::string& address,
                                                                 const GrpcListenOptions& options);
  // Sends the requests posted so far, then ends every stream. Takes at most about two seconds.
  ~GrpcCoordinator() override;

  // Returns the address that workers connect to, with the port that was selected.
  const std::string& bound_address() const;

  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override;
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override;
  bool MayComeBack(WorkerId worker) const override;
  bool ordered() const override { return false; }
  std::string name() const override { return "grpc"; }

 private:
  class Service;
  explicit GrpcCoordinator(std::unique_ptr<Service> service);
  std::unique_ptr<Service> service_;
};

struct GrpcWorkerOptions {
  bool insecure = false;  // connect to another host even if nothing protects the connection
  TlsFiles tls = {};      // a certificate of its own, and the CA of the coordinator's
  // Returns what the coordinator gave to its workers; called before each attempt to join, so that a file that the next
  // coordinator replaces is read again, but never by a worker that has joined. An error is reported like an unreachable
  // coordinator. Null: there are no credentials.
  std::function<absl::StatusOr<JoinCredentials>()> credentials = nullptr;
  double join_timeout_s = 60;               // retries until then if the coordinator is not up yet
  const std::atomic<bool>* stop = nullptr;  // checked every 50 ms; true: disconnect at once
  // Called while there is no answer: after the first second, then every 30 s. `why` is empty if no reason is known yet.
  std::function<void(double waited_s, const std::string& why)> on_waiting = nullptr;
  std::function<void()> on_joined = nullptr;  // called once for each worker
};

// The worker's end (grpc_worker.cc). Joins the coordinator at `address`, sends Joined and passes requests to `handler` on gRPC's
// threads, one at a time (a Ping is answered on the same thread), until the coordinator sends Leave or is gone. Then it
// calls handler.Shutdown(), or Abandon() if the coordinator has disappeared without a Leave. Blocks for all of this
// time.
//
// If the connection breaks and the coordinator has granted a lease, the worker reconnects within that time. `handler`
// does not notice: no request and no event is lost or doubled. Not on Unix sockets. There, without TLS and `insecure`, a
// coordinator of another user than this one and root is not joined.
//
// OK: Leave without a reason. FailedPrecondition: Leave with this reason. Unavailable: no connection within the join
// timeout, or it broke and could not be made again. Unauthenticated: the token or a certificate is not accepted.
// Cancelled: `stop` was set. InvalidArgument: malformed address, or see CheckProtection.
absl::Status RunGrpcWorker(const std::string& address, WorkerHandler& handler,
                           const GrpcWorkerOptions& options);

// Runs several workers in one process, each with its own connection. Returns when all have ended: the first status that
// is not OK, or OK.
absl::Status RunGrpcWorkers(const std::string& address, std::span<WorkerHandler* const> handlers,
                            const GrpcWorkerOptions& options);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

// The gRPC transport. Workers connect to one port of the coordinator; each keeps one bidirectional stream for its
// lifetime. Only the sources behind this header use gRPC.
//
// Addresses: unix:/path · 127.0.0.1:9400 · [::1]:9400 · host:9400 · :9400 (all interfaces, IPv4 and IPv6).
#ifndef COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/transport.h"

namespace iobench {

struct GrpcListenOptions {
  bool insecure = false;  // accept connections from other hosts although there is no TLS
};

// The coordinator's end. Workers get their ids in the order in which they join. gRPC's threads queue the events and
// stamp them when their bytes arrive. One thread calls Post and WaitEvent, which never block on a peer.
class GrpcCoordinator final : public Transport {
 public:
  // Starts to listen on `address`; port 0 selects a free port. InvalidArgument: malformed address. FailedPrecondition:
  // the address is neither loopback nor a Unix socket, and `insecure` is false. Unavailable: cannot listen there (port
  // in use, not a local address, no such directory).
  static absl::StatusOr<std::unique_ptr<GrpcCoordinator>> Listen(const std::string& address,
                                                                 const GrpcListenOptions& options);
  // Sends the requests posted so far, then ends every stream. Takes at most about two seconds.
  ~GrpcCoordinator() override;

  // The address that workers connect to, with the port that was selected.
  const std::string& bound_address() const;

  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override;
  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override;
  bool ordered() const override { return false; }
  std::string name() const override { return "grpc"; }

 private:
  class Service;
  explicit GrpcCoordinator(std::unique_ptr<Service> service);
  std::unique_ptr<Service> service_;
};

struct GrpcWorkerOptions {
  double join_timeout_s = 60;               // retries until then if the coordinator is not up yet
  const std::atomic<bool>* stop = nullptr;  // checked every 50 ms; true: disconnect at once
  // Called while there is no answer: after the first second, then every 30 s. `why` is empty if no reason is known yet.
  std::function<void(double waited_s, const std::string& why)> on_waiting = nullptr;
};

// The worker's end. Joins the coordinator at `address`, sends Joined and passes requests to `handler` on gRPC's
// threads, one at a time (a Ping is answered on the same thread), until the coordinator sends Leave or is gone. Then it
// calls handler.Shutdown(). Blocks for all of this time.
//
// OK: Leave without a reason. FailedPrecondition: Leave with this reason. Unavailable: no connection within the join
// timeout, or the connection broke. Cancelled: `stop` was set. InvalidArgument: malformed address.
absl::Status RunGrpcWorker(const std::string& address, WorkerHandler& handler,
                           const GrpcWorkerOptions& options);

// Runs several workers in one process, each with its own connection. Returns when all have ended: the first status that
// is not OK, or OK.
absl::Status RunGrpcWorkers(const std::string& address, std::span<WorkerHandler* const> handlers,
                            const GrpcWorkerOptions& options);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

// Workers that dial in over gRPC: one bidirectional stream a worker for its whole life, one open port at the
// coordinator. Only the sources behind this header know gRPC.
//
// Addresses: unix:/path · 127.0.0.1:9400 · [::1]:9400 · host:9400 · :9400 (all interfaces, IPv4 and IPv6).
#ifndef COMMON_TRANSPORT_GRPC_TRANSPORT_H_
#define COMMON_TRANSPORT_GRPC_TRANSPORT_H_

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
  bool insecure = false;  // lets others than this host connect although there is no TLS yet
};

// The coordinator's end. Workers get their ids in the order in which they join. Events are queued on gRPC's threads
// and stamped when their bytes have arrived; Post and WaitEvent belong to one thread and never block on a peer.
class GrpcCoordinator final : public Transport {
 public:
  // Port 0 chooses a free one. InvalidArgument: no such form of address. FailedPrecondition: neither loopback nor a
  // Unix socket, and not `insecure`. Unavailable: cannot listen there (in use, not ours, no such directory).
  static absl::StatusOr<std::unique_ptr<GrpcCoordinator>> Listen(const std::string& address,
                                                                 const GrpcListenOptions& options);
  // Ends every stream, what has been posted first; at most about two seconds.
  ~GrpcCoordinator() override;

  // Where workers can join: the address given, with the port that was chosen.
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
  double join_timeout_s = 60;               // a coordinator that is not up yet is tried again until then
  const std::atomic<bool>* stop = nullptr;  // looked at every 50 ms; set: hang up at once
  // While nobody has answered: after the first second, then every half minute. `why`: empty where nothing is known yet.
  std::function<void(double waited_s, const std::string& why)> on_waiting = nullptr;
};

// The worker's end: joins the coordinator at `address`, sends Joined, hands requests to `handler` on gRPC's threads
// (one at a time; a Ping is answered there and then) until the coordinator says Leave or is gone, then calls
// handler.Shutdown(). Blocks for that long.
// OK: Leave without a reason. FailedPrecondition: Leave with this reason. Unavailable: no connection within the join
// timeout, or it broke. Cancelled: `stop`. InvalidArgument: no such form of address.
absl::Status RunGrpcWorker(const std::string& address, WorkerHandler& handler,
                           const GrpcWorkerOptions& options);

// Many workers in one process, each on a connection of its own. Returns when the last one has ended, with the first
// status that is not OK.
absl::Status RunGrpcWorkers(const std::string& address, std::span<WorkerHandler* const> handlers,
                            const GrpcWorkerOptions& options);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TRANSPORT_H_

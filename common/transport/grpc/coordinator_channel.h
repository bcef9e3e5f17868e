// A worker's connection to its coordinator: how it is protected, and why it cannot be made.
#ifndef COMMON_TRANSPORT_GRPC_COORDINATOR_CHANNEL_H_
#define COMMON_TRANSPORT_GRPC_COORDINATOR_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/tls_probe.h"
#include "common/transport/grpc_address.h"

namespace iobench {

// InvalidArgument: the options contradict each other, a file of options.tls cannot be used, or nothing would protect a
// connection to another host and `insecure` is not set.
absl::Status CheckProtection(const GrpcAddress& address, const GrpcWorkerOptions& options);

// One worker's channel. TLS is used if there is a certificate to trust, whatever the address is (it may be a tunnel). A
// token is sent only over TLS: on loopback and Unix sockets too, whoever answers is not yet the coordinator. One thread may
// use it.
class CoordinatorChannel {
 public:
  // `options` must outlive it. REQUIRES: CheckProtection returned OK.
  CoordinatorChannel(const GrpcAddress& address, const GrpcWorkerOptions& options);

  // Reads the credentials again and makes a new channel if they differ from the present one's. Over a Unix socket without
  // TLS, it connects. Call it before each attempt to join. An error says why there is no channel now.
  absl::Status Refresh();
  // REQUIRES: Refresh returned OK.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // Adds the token, and a random text that identifies the attempt (kAttemptKey).
  void AddMetadata(grpc::ClientContext& context) const;

  // Finds out whether TLS is why an attempt failed with gRPC's message `error`. Connects on its own, for up to 2 s.
  TlsFinding WhyNot(const std::string& error) const;
  // True if the credentials have changed since Refresh, so that another attempt may succeed.
  bool HasNewCredentials() const;

 private:
  absl::StatusOr<JoinCredentials> ReadCredentials() const;
  bool ConnectsItself(const TlsSetup& tls) const;

  const GrpcAddress address_;
  const GrpcWorkerOptions& options_;
  TlsIdentity identity_;  // options_.tls
  std::optional<JoinCredentials> credentials_;
  TlsSetup tls_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_COORDINATOR_CHANNEL_H_

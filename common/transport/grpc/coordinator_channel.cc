#include "common/transport/grpc/coordinator_channel.h"

#include <grpcpp/create_channel_posix.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/transport/door/unix_peer.h"
#include "common/transport/grpc/grpc_runtime.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

grpc::ChannelArguments ArgumentsOfChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxRequestBytes);
  arguments.SetMaxSendMessageSize(-1);  // the coordinator sets the limit
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepalivePingMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // With several workers in one process, each has its own connection, as separate processes would.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A stream cannot be retried once the coordinator knows the worker; the retry buffer would only cost copies.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Many clusters set http_proxy, which is meant for the web.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

std::shared_ptr<grpc::Channel> MakeChannel(const GrpcAddress& address, const TlsSetup& tls) {
  grpc::ChannelArguments arguments = ArgumentsOfChannel();
  if (!tls.enabled()) {
    return grpc::CreateCustomChannel(address.ToDial(), grpc::InsecureChannelCredentials(), arguments);
  }
  if (!tls.expected_name.empty()) arguments.SetSslTargetNameOverride(tls.expected_name);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls.trusted_pem;
  options.pem_private_key = tls.identity.key_pem.text();
  options.pem_cert_chain = tls.identity.certificate_pem;
  return grpc::CreateCustomChannel(address.ToDial(), grpc::SslCredentials(options), arguments);
}

}  // namespace

absl::Status CheckProtection(const GrpcAddress& address, const GrpcWorkerOptions& options) {
  if (options.insecure && (options.credentials != nullptr || options.tls.any())) {
    return absl::InvalidArgumentError(
        "--insecure trusts whoever answers: it cannot be combined with --token-file, --tls-cert, --tls-key, --tls-ca or "
        "--tls-crl");
  }
  if (!options.tls.certificate.empty() && options.tls.ca.empty() && options.credentials == nullptr) {
    return absl::InvalidArgumentError(
        "--tls-cert needs --tls-ca FILE, which says whose certificate the coordinator has");
  }
  IOBENCH_RETURN_IF_ERROR(ReadTlsFiles(options.tls).status());
  if (!address.reachable_from_elsewhere() || options.insecure || options.credentials != nullptr ||
      options.tls.any()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "nothing protects a connection to ", address.ToText(),
      ": give --token-file FILE with the file of the coordinator's --token-file, or --tls-cert, --tls-key and --tls-ca, or "
      "--insecure if the coordinator was started with it and you trust the network"));
}

CoordinatorChannel::CoordinatorChannel(const GrpcAddress& address, const GrpcWorkerOptions& options)
    : address_(address), options_(options) {
  if (auto identity = ReadTlsFiles(options.tls); identity.ok()) identity_ = *std::move(identity);
  if (!identity_.crl_pem.empty()) UseRevocationLists(identity_.crl_pem);
}

absl::StatusOr<JoinCredentials> CoordinatorChannel::ReadCredentials() const {
  if (options_.credentials == nullptr) return JoinCredentials();
  return options_.credentials();
}

absl::Status CoordinatorChannel::Refresh() {
  IOBENCH_ASSIGN_OR_RETURN(JoinCredentials credentials, ReadCredentials());
  const bool are_known = credentials_.has_value() && *credentials_ == credentials;
  if (are_known && !ConnectsItself(tls_)) return absl::OkStatus();
  TlsSetup tls;
  tls.identity = identity_;
  tls.trusted_pem = absl::StrCat(identity_.ca_pem, credentials.certificates_pem);
  tls.expected_name = identity_.ca_pem.empty() ? NameInRunCertificate(credentials.certificates_pem) : "";
  if (!tls.enabled() && !credentials.token.empty()) {
    return absl::FailedPreconditionError(
        "the token file has no certificate of the coordinator, so nothing protects the token: use the file that the "
        "coordinator's --token-file has written, or give --tls-ca");
  }
  if (ConnectsItself(tls)) {
    IOBENCH_ASSIGN_OR_RETURN(
        UniqueFd socket, ConnectToUnixSocket(address_.unix_path,
                                             options_.insecure ? UnixPeer::kAnybody : UnixPeer::kOwnOrRoot));
    channel_ = grpc::CreateCustomInsecureChannelFromFd(address_.ToText(), socket.Release(), ArgumentsOfChannel());
  } else {
    channel_ = MakeChannel(address_, tls);
  }
  credentials_ = std::move(credentials);
  tls_ = std::move(tls);
  return absl::OkStatus();
}

// gRPC would not say who has answered.
bool CoordinatorChannel::ConnectsItself(const TlsSetup& tls) const {
  return address_.is_unix() && !tls.enabled();
}

void CoordinatorChannel::AddMetadata(grpc::ClientContext& context) const {
  if (tls_.enabled() && !credentials_->token.empty()) context.AddMetadata(kTokenKey, credentials_->token.text());
  if (const auto attempt = MakeToken(); attempt.ok()) context.AddMetadata(kAttemptKey, attempt->text());
}

TlsFinding CoordinatorChannel::WhyNot(const std::string& error) const {
  if (address_.is_unix() || absl::StrContains(error, "Connection refused") ||
      absl::StrContains(error, "DNS resolution failed")) {
    return {};
  }
  return ProbeTls(address_, tls_);
}

bool CoordinatorChannel::HasNewCredentials() const {
  const auto credentials = ReadCredentials();
  return credentials.ok() && *credentials != credentials_;
}

}  // namespace iobench

// How a coordinator protects its connections: its certificate, and what a worker must present.
#ifndef COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_
#define COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/grpc/join_credentials.h"
#include "common/transport/grpc_address.h"

namespace iobench {

// Files in PEM, as the user names them. A certificate and its key come together.
struct TlsFiles {
  std::string certificate = {};  // --tls-cert: one's own, followed by intermediate ones
  std::string key = {};          // --tls-key: of the first certificate
  std::string ca = {};           // --tls-ca: of those that may have signed the other end's certificate
  bool any() const { return !certificate.empty() || !key.empty() || !ca.empty(); }
};

// The contents of such files. They are checked: the key belongs to the certificate.
struct TlsIdentity {
  std::string certificate_pem;
  std::string key_pem;
  std::string ca_pem;
};

// Reads and checks the files that are named. InvalidArgument: a file is not PEM or too long, only one of certificate
// and key is given, or they do not belong together; the message names the option. Otherwise the status of the errno.
absl::StatusOr<TlsIdentity> ReadTlsFiles(const TlsFiles& files);

// Returns a new ECDSA P-256 key and a certificate for it that it has signed itself, valid from yesterday (clocks of
// clients differ) for 30 days, for `names` (host names and IP addresses) and kPinnedName. They are only in memory.
absl::StatusOr<TlsIdentity> MakeRunIdentity(const std::vector<std::string>& names);

// The name in every certificate that MakeRunIdentity makes. A worker that trusts just such a certificate asks for this
// name, so it may reach the coordinator under any address, also through NAT or a tunnel.
inline constexpr char kPinnedName[] = "run.cluster-iobench.invalid";

// The names and addresses of this host, for MakeRunIdentity.
std::vector<std::string> NamesOfThisHost();

struct JoinSecurityOptions {
  bool insecure = false;  // --insecure: no TLS and no token, wherever the address is
  TlsFiles tls = {};      // no certificate: one is made for the run if the address needs TLS
  // Required of each worker. Empty: a token is made if `needs_token`.
  std::string token = {};
  // Workers get credentials from the coordinator: by a token file, or on standard input.
  bool needs_token = false;
  bool always_tls = false;                   // on loopback too, as it would be elsewhere
  std::vector<std::string> more_names = {};  // for the run's certificate, besides NamesOfThisHost
};

// What GrpcCoordinator::Listen needs to know. Made by MakeJoinSecurity.
struct JoinSecurity {
  bool insecure = false;
  bool tls = false;
  TlsIdentity identity;               // of the coordinator; used if `tls`
  bool made_for_run = false;          // `identity` is one of MakeRunIdentity
  bool asks_for_certificate = false;  // workers must have a certificate signed by identity.ca_pem
  std::string token;                  // workers must send it; empty: none is asked for
  // What each worker must get. Its certificates are empty without TLS.
  JoinCredentials for_workers;
};

// Decides for a coordinator that listens on `address`: TLS unless it is a Unix socket or loopback, where it is used
// only if options.tls has a certificate; a token if one is given or needed. FailedPrecondition: other hosts could
// connect, and neither a token nor a CA nor `insecure` says who may join. InvalidArgument: `insecure` together with a
// token or TLS, a bad token, or see ReadTlsFiles.
absl::StatusOr<JoinSecurity> MakeJoinSecurity(const GrpcAddress& address, const JoinSecurityOptions& options);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_

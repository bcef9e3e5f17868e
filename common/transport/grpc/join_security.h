// How a coordinator protects its connections: its certificate, and what a worker must present.
#ifndef COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_
#define COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/secret.h"
#include "common/transport/grpc/join_credentials.h"
#include "common/transport/grpc_address.h"

namespace iobench {

// Files in PEM, as the user names them. A certificate and its key come together.
struct TlsFiles {
  std::string certificate = {};  // --tls-cert: this end's own, followed by intermediate ones
  std::string key = {};          // --tls-key: of the first certificate
  std::string ca = {};           // --tls-ca: certificates of the CAs that may have signed the other end's
  std::string crl = {};          // --tls-crl: what these CAs have revoked
  bool any() const { return !certificate.empty() || !key.empty() || !ca.empty() || !crl.empty(); }
};

// The contents of such files, after checking that the key belongs to the certificate.
struct TlsIdentity {
  std::string certificate_pem;
  Secret key_pem;
  std::string ca_pem;
  std::string crl_pem;
};

// Reads and checks the files that are named. InvalidArgument: a file is not PEM or too long, only one of certificate
// and key is given, or they do not belong together, or a revocation list without a CA; the message names the option.
// Otherwise the status of the errno.
absl::StatusOr<TlsIdentity> ReadTlsFiles(const TlsFiles& files);

// Returns a new ECDSA P-256 key and a self-signed certificate for it, valid from yesterday (clocks of clients differ)
// for a year, for `names` (host names and IP addresses) and kPinnedName. Both exist only in memory.
absl::StatusOr<TlsIdentity> MakeRunIdentity(const std::vector<std::string>& names);

// The name in every certificate that MakeRunIdentity makes. A worker that trusts only such a certificate expects this
// name, so it may reach the coordinator under any address, also through NAT or a tunnel.
inline constexpr char kPinnedName[] = "run.cluster-iobench.invalid";

// Returns the names and addresses of this host, for MakeRunIdentity.
std::vector<std::string> NamesOfThisHost();

struct JoinSecurityOptions {
  bool insecure = false;  // --insecure: no TLS and no token, whatever the address
  TlsFiles tls = {};      // no certificate: one is made for the run if it needs TLS
  // Required of each worker. Empty: a token is made if `needs_token`.
  Secret token = {};
  // Workers get credentials from the coordinator: by a token file, or on standard input.
  bool needs_token = false;
  std::vector<std::string> more_names = {};  // for the run's certificate, besides NamesOfThisHost
};

// What GrpcCoordinator::Listen needs to know. Made by MakeJoinSecurity.
struct JoinSecurity {
  bool insecure = false;
  bool tls = false;
  TlsIdentity identity;               // of the coordinator; used if `tls`
  bool made_for_run = false;          // `identity` is one of MakeRunIdentity
  bool asks_for_certificate = false;  // workers must have a certificate signed by identity.ca_pem
  Secret token;                       // workers must send it; empty: none is asked for
  // The credentials that each worker must get. The certificates are empty without TLS.
  JoinCredentials for_workers;
};

// Decides for a coordinator that listens on `address`: a token if one is given or needed; TLS wherever other hosts could
// connect, and with a token or a certificate everywhere else too: whoever takes the address of a coordinator on loopback
// or of its Unix socket would otherwise be given the token, and be obeyed. FailedPrecondition:
// other hosts could connect, and there is no token, no CA and no `insecure` to say who may join. InvalidArgument:
// `insecure` together with a token or TLS, a bad token, or see ReadTlsFiles.
absl::StatusOr<JoinSecurity> MakeJoinSecurity(const GrpcAddress& address, const JoinSecurityOptions& options);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_JOIN_SECURITY_H_

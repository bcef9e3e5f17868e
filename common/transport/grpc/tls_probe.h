// Finds out why a worker's TLS handshake with a coordinator fails, which gRPC reports only in part.
#ifndef COMMON_TRANSPORT_GRPC_TLS_PROBE_H_
#define COMMON_TRANSPORT_GRPC_TLS_PROBE_H_

#include <string>

#include "common/transport/grpc/join_security.h"
#include "common/transport/grpc_address.h"

namespace iobench {

// A worker's side of TLS.
struct TlsSetup {
  TlsIdentity identity;       // its own certificate and key; empty: none
  std::string trusted_pem;    // certificates it trusts; empty: it does not use TLS
  std::string expected_name;  // in the coordinator's certificate; empty: the host that it connects to
  bool enabled() const { return !trusted_pem.empty(); }
};

struct TlsFinding {
  std::string why;        // one clause without a final stop; empty: TLS is not the reason
  bool is_final = false;  // another attempt with the same certificates would fail too
};

// Connects to each address of the name in `address` for at most about 2 s, tries a handshake, and disconnects. Sends nothing
// but the handshake. One address at which TLS works, or at which nothing answers yet, may be the coordinator's: another
// program at the next one (on ::1, when the coordinator is on 127.0.0.1) decides nothing. REQUIRES: not a Unix socket.
TlsFinding ProbeTls(const GrpcAddress& address, const TlsSetup& setup);

// Returns kPinnedName if `certificates_pem` is a single certificate of MakeRunIdentity, otherwise an empty text.
std::string NameInRunCertificate(const std::string& certificates_pem);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_TLS_PROBE_H_

// The coordinator's end of TLS.
#ifndef COMMON_TRANSPORT_GUARD_SERVER_TLS_H_
#define COMMON_TRANSPORT_GUARD_SERVER_TLS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/process/secret.h"
#include "common/transport/guard/openssl_types.h"

namespace iobench {

struct ServerTls {
  std::string certificate_pem = {};  // followed by intermediate ones
  Secret key_pem = {};
  std::string client_ca_pem = {};    // not empty: a worker needs a certificate that one of these has signed
  std::string client_crl_pem = {};   // not empty: and that is not on these revocation lists
};

// TLS 1.2 or newer with ephemeral keys, for HTTP/2 only: no renegotiation, no session tickets (workers do not come back
// with them), no buffers for idle connections. InvalidArgument: the key is not the certificate's.
absl::StatusOr<OwnedContext> MakeServerContext(const ServerTls& tls);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_SERVER_TLS_H_

// What the TLS contexts of both ends have in common.
#ifndef COMMON_TRANSPORT_GUARD_TLS_CONTEXT_H_
#define COMMON_TRANSPORT_GUARD_TLS_CONTEXT_H_

#include <string>

#include "common/process/secret.h"
#include "common/transport/guard/openssl_types.h"

namespace iobench {

// ALPN's name of HTTP/2, as OpenSSL takes it.
inline constexpr unsigned char kHttp2Protocol[] = {2, 'h', '2'};

// Trusts the certificates in `pem`. Like gRPC: one that is itself trusted needs no trusted issuer.
void Trust(SSL_CTX* context, const std::string& pem);

// Refuses certificates that are on these revocation lists (PEM), or whose issuer has no list among them that is valid today.
// Empty: none is checked.
void RefuseRevoked(SSL_CTX* context, const std::string& crl_pem);

// Presents a certificate, which intermediate ones may follow. False: it does not belong to the key, or one of them is
// not PEM. An empty certificate presents nothing.
bool Present(SSL_CTX* context, const std::string& certificate_pem, const Secret& key_pem);

// Returns OpenSSL's reason for the last error of this thread, or an empty text.
std::string ReasonOfLastError();

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_TLS_CONTEXT_H_

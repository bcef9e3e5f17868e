#include "common/transport/guard/server_tls.h"

#include <openssl/err.h>

#include "common/transport/guard/tls_context.h"

namespace iobench {
namespace {

int SelectHttp2(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                unsigned offered_bytes, void*) {
  unsigned char* found = nullptr;
  const int outcome =
      SSL_select_next_proto(&found, chosen_bytes, kHttp2Protocol, sizeof kHttp2Protocol, offered, offered_bytes);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// A worker asks for what may have signed its certificate.
void NameClientCas(SSL_CTX* context, const std::string& pem) {
  const OwnedBio bio = ReadingBio(pem);
  while (const OwnedCertificate certificate = NextCertificate(bio.get())) {
    SSL_CTX_add_client_CA(context, certificate.get());
  }
  ERR_clear_error();
}

}  // namespace

absl::StatusOr<OwnedContext> MakeServerContext(const ServerTls& tls) {
  OwnedContext context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);  // a record with one system call, not two
  SSL_CTX_set_alpn_select_cb(context.get(), SelectHttp2, nullptr);
  if (!Present(context.get(), tls.certificate_pem, tls.key_pem)) {
    return absl::InvalidArgumentError("this certificate and key do not serve TLS");
  }
  if (!tls.client_ca_pem.empty()) {
    Trust(context.get(), tls.client_ca_pem);
    RefuseRevoked(context.get(), tls.client_crl_pem);
    NameClientCas(context.get(), tls.client_ca_pem);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

}  // namespace iobench

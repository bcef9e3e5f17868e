#include "common/transport/guard/tls_context.h"

#include <openssl/err.h>

namespace iobench {

void Trust(SSL_CTX* context, const std::string& pem) {
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context),
                       X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  const OwnedBio bio = ReadingBio(pem);
  while (const OwnedCertificate certificate = NextCertificate(bio.get())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get());
  }
  ERR_clear_error();  // the end of the text
}

void RefuseRevoked(SSL_CTX* context, const std::string& crl_pem) {
  if (crl_pem.empty()) return;
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  const OwnedBio bio = ReadingBio(crl_pem);
  while (const OwnedRevocationList list = NextRevocationList(bio.get())) X509_STORE_add_crl(store, list.get());
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  ERR_clear_error();  // the end of the text
}

bool Present(SSL_CTX* context, const std::string& certificate_pem, const Secret& key_pem) {
  if (certificate_pem.empty()) return true;
  const OwnedBio bio = ReadingBio(certificate_pem);
  const OwnedCertificate own = NextCertificate(bio.get());
  bool good = own != nullptr && SSL_CTX_use_certificate(context, own.get()) == 1;
  while (const OwnedCertificate intermediate = NextCertificate(bio.get())) {
    good &= SSL_CTX_add1_chain_cert(context, intermediate.get()) == 1;
  }
  const OwnedKey key(PEM_read_bio_PrivateKey(ReadingBio(key_pem.text()).get(), nullptr, nullptr, nullptr));
  good = good && key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  ERR_clear_error();
  return good;
}

std::string ReasonOfLastError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "" : reason;
}

}  // namespace iobench

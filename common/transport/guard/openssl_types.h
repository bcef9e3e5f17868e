// Owning pointers to OpenSSL's objects.
#ifndef COMMON_TRANSPORT_GUARD_OPENSSL_TYPES_H_
#define COMMON_TRANSPORT_GUARD_OPENSSL_TYPES_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace iobench {

template <auto Free>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using OwnedBio = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using OwnedSsl = std::unique_ptr<SSL, FreedBy<SSL_free>>;
using OwnedCertificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using OwnedRevocationList = std::unique_ptr<X509_CRL, FreedBy<X509_CRL_free>>;

// Reads from `pem`, which must outlive it.
inline OwnedBio ReadingBio(const std::string& pem) {
  return OwnedBio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Returns the next certificate, or null if there is none or it is damaged.
inline OwnedCertificate NextCertificate(BIO* bio) {
  return OwnedCertificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
}

// The same for revocation lists.
inline OwnedRevocationList NextRevocationList(BIO* bio) {
  return OwnedRevocationList(PEM_read_bio_X509_CRL(bio, nullptr, nullptr, nullptr));
}

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_OPENSSL_TYPES_H_

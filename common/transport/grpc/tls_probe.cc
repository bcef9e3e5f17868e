#include "common/transport/grpc/tls_probe.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/transport/guard/openssl_types.h"
#include "common/transport/guard/tls_context.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr timeval kPatience = {2, 0};  // for each call

using OwnedAddresses = std::unique_ptr<addrinfo, FreedBy<freeaddrinfo>>;

OwnedAddresses AddressesOf(const GrpcAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.HostToDial().c_str(), std::to_string(address.port).c_str(), &hints, &found);
  return OwnedAddresses(error == 0 ? found : nullptr);
}

// Not valid: nothing answers there.
UniqueFd ConnectedTo(const addrinfo& there) {
  UniqueFd socket(::socket(there.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);  // for connect() too
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  return connect(socket.get(), there.ai_addr, there.ai_addrlen) == 0 ? std::move(socket) : UniqueFd();
}

std::string Printed(const X509_NAME* name) {
  const OwnedBio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(bytes));
}

std::string Printed(const ASN1_TIME* time) {
  const OwnedBio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(bytes));
}

// What a handshake shows before it ends. OpenSSL forgets the certificate of a failed handshake.
struct Seen {
  OwnedCertificate untrusted;
  bool asked_for_ours = false;

  static Seen& Of(const SSL* ssl) { return *static_cast<Seen*>(SSL_get_app_data(ssl)); }
};

int OnVerified(int is_trusted, X509_STORE_CTX* store) {
  if (is_trusted == 1) return 1;
  const auto* const ssl =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  X509* const certificate = X509_STORE_CTX_get0_cert(store);
  if (certificate != nullptr && X509_up_ref(certificate) == 1) Seen::Of(ssl).untrusted.reset(certificate);
  return 0;
}

int OnAskedForOurs(SSL* ssl, void*) {
  Seen::Of(ssl).asked_for_ours = true;
  return 1;
}

// Explains why the coordinator's certificate was not accepted.
std::string WhyUntrusted(const X509* certificate, long verify_result, const std::string& name) {
  if (certificate == nullptr) return "the coordinator has shown no certificate";
  switch (verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat("the coordinator's certificate has expired (",
                          Printed(X509_get0_notAfter(certificate)),
                          "): make a new one, or set this host's clock");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::StrCat("the coordinator's certificate is not valid before ",
                          Printed(X509_get0_notBefore(certificate)), ": set this host's clock");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return absl::StrCat("the coordinator's certificate (", Printed(X509_get_subject_name(certificate)),
                          ") is not for ", name, ": join under a name that it lists");
    case X509_V_ERR_CERT_REVOKED:
      return absl::StrCat("the coordinator's certificate (", Printed(X509_get_subject_name(certificate)),
                          ") was revoked (--tls-crl): give the coordinator another one");
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "the revocation list (--tls-crl) has expired: get the present one of the CA";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return absl::StrCat("--tls-crl has no list of the CA that signed the coordinator's certificate (",
                          Printed(X509_get_subject_name(certificate)), "): get that CA's list");
    default:
      return absl::StrCat("the certificate there (", Printed(X509_get_subject_name(certificate)),
                          ") is not the one of this coordinator: ",
                          X509_verify_cert_error_string(verify_result), "; is the token file this run's?");
  }
}

// Returns true if the other end has sent its reason as a TLS alert.
bool IsAlert(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

// Explains why the coordinator refused us: because of our certificate, or because there is none.
TlsFinding WhyRefused(const SSL* ssl, const TlsSetup& setup, bool asked, const std::string& alert) {
  if (asked && setup.identity.certificate_pem.empty()) {
    return {"the coordinator asks for a certificate: give --tls-cert and --tls-key", true};
  }
  if (asked) {
    const X509* const own = SSL_get_certificate(ssl);
    if (own != nullptr && X509_cmp_current_time(X509_get0_notAfter(own)) < 0) {
      return {absl::StrCat("this worker's certificate (--tls-cert) has expired (",
                           Printed(X509_get0_notAfter(own)), ")"),
              true};
    }
    // gRPC's servers mostly hang up without an alert; they have the reason on their stderr.
    return {absl::StrCat("the coordinator does not accept this worker's certificate (--tls-cert)",
                         IsAlert(ERR_peek_last_error()) ? absl::StrCat(": ", alert) : "",
                         "; it must be signed by the coordinator's --tls-ca and not be on its --tls-crl"),
            true};
  }
  if (alert.empty()) return {};
  return {absl::StrCat("the coordinator refuses the TLS connection: ", alert), false};
}

bool SetExpectedName(SSL* ssl, const std::string& name) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1) return true;
  SSL_set_tlsext_host_name(ssl, name.c_str());
  return SSL_set1_host(ssl, name.c_str()) == 1;
}

TlsFinding FindingAt(const UniqueFd& socket, const GrpcAddress& address, const TlsSetup& setup) {
  ERR_clear_error();
  const OwnedContext context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_protos(context.get(), kHttp2Protocol, sizeof kHttp2Protocol);
  SSL_CTX_set_verify(context.get(), setup.enabled() ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     setup.enabled() ? OnVerified : nullptr);
  Trust(context.get(), setup.trusted_pem);
  Present(context.get(), setup.identity.certificate_pem, setup.identity.key_pem);
  const OwnedSsl ssl(SSL_new(context.get()));
  Seen seen;
  SSL_set_app_data(ssl.get(), &seen);
  SSL_set_cert_cb(ssl.get(), OnAskedForOurs, nullptr);
  SSL_set_fd(ssl.get(), socket.get());
  const std::string name = setup.expected_name.empty() ? address.host : setup.expected_name;
  SetExpectedName(ssl.get(), name);

  const bool shook_hands = SSL_connect(ssl.get()) == 1;
  if (!setup.enabled()) {
    const bool is_tls = shook_hands || SSL_get0_peer_certificate(ssl.get()) != nullptr;
    if (!is_tls) return {};
    return {"what answers there uses TLS: if it is the coordinator, give its --token-file, or --tls-ca",
            false};
  }
  if (!shook_hands) {
    const long verify_result = SSL_get_verify_result(ssl.get());
    if (verify_result != X509_V_OK) {
      return {WhyUntrusted(seen.untrusted.get(), verify_result, name), true};
    }
    if (SSL_get0_peer_certificate(ssl.get()) == nullptr && !IsAlert(ERR_peek_last_error())) {
      return {
          "what answers there does not use TLS: it is a coordinator without --token-file, or another program",
          false};
    }
    return WhyRefused(ssl.get(), setup, seen.asked_for_ours, ReasonOfLastError());
  }
  // In TLS 1.3, the server checks our certificate after we have finished. It then sends HTTP/2 settings, or hangs up.
  char first = 0;
  if (SSL_read(ssl.get(), &first, 1) == 1) return {};
  return WhyRefused(ssl.get(), setup, seen.asked_for_ours, ReasonOfLastError());
}

}  // namespace

TlsFinding ProbeTls(const GrpcAddress& address, const TlsSetup& setup) {
  const OwnedAddresses addresses = AddressesOf(address);
  TlsFinding first;
  bool all_are_final = true;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    const UniqueFd socket = ConnectedTo(*each);
    TlsFinding finding;
    if (socket.valid()) {
      finding = FindingAt(socket, address, setup);
      if (finding.why.empty()) return {};
    }
    all_are_final &= finding.is_final;
    if (first.why.empty()) first = std::move(finding);
  }
  first.is_final = first.is_final && all_are_final;
  return first;
}

std::string NameInRunCertificate(const std::string& certificates_pem) {
  const OwnedBio bio = ReadingBio(certificates_pem);
  const OwnedCertificate certificate = NextCertificate(bio.get());
  const bool is_only = certificate != nullptr && NextCertificate(bio.get()) == nullptr;
  ERR_clear_error();
  if (!is_only || X509_check_ca(certificate.get()) != 0) return "";
  return X509_check_host(certificate.get(), kPinnedName, 0, 0, nullptr) == 1 ? kPinnedName : "";
}

}  // namespace iobench

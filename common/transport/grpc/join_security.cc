#include "common/transport/grpc/join_security.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/transport/guard/openssl_types.h"
#include "common/transport/grpc/secret_file.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxPemBytes = 1 << 20;
constexpr long kBeforeNow_s = 24 * 60 * 60;
constexpr long kValid_s = 365L * 24 * 60 * 60;  // longer than any --soak, in which workers may come back

using OwnedExtension = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;

OwnedCertificate FirstCertificate(const std::string& pem) {
  return NextCertificate(ReadingBio(pem).get());
}

// A key with a passphrase is refused: OpenSSL would ask for it on the terminal.
int NoPassphrase(char*, int, int, void*) {
  return -1;
}

OwnedKey PrivateKey(const std::string& pem) {
  return OwnedKey(PEM_read_bio_PrivateKey(ReadingBio(pem).get(), nullptr, NoPassphrase, nullptr));
}

absl::StatusOr<std::string> ReadPem(const char* option, const std::string& file) {
  if (file.empty()) return std::string();
  return ReadSmallFile(option, file, kMaxPemBytes);
}

bool IsIpAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

// Returns a list in OpenSSL's configuration syntax, in which commas separate names and names cannot be quoted.
std::string AlternativeNames(const std::vector<std::string>& names) {
  std::vector<std::string> entries = {absl::StrCat("DNS:", kPinnedName)};
  for (const std::string& name : names) {
    constexpr char kOfNames[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
    if (name.empty() || name.size() > 253 || name.find_first_not_of(kOfNames) != std::string::npos) continue;
    std::string entry = absl::StrCat(IsIpAddress(name) ? "IP:" : "DNS:", name);
    if (std::find(entries.begin(), entries.end(), entry) == entries.end())
      entries.push_back(std::move(entry));
  }
  return absl::StrJoin(entries, ",");
}

bool AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const OwnedExtension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// An issuer's serial numbers must differ, and each run's certificate is its own issuer.
bool SetRandomSerial(X509* certificate) {
  std::array<unsigned char, 8> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  uint64_t serial = 0;
  for (const unsigned char byte : bytes) serial = serial << 8 | byte;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1;
}

OwnedCertificate SelfSigned(EVP_PKEY* key, const std::vector<std::string>& names) {
  OwnedCertificate certificate(X509_new());
  X509* const made = certificate.get();
  if (made == nullptr) return nullptr;
  X509_NAME* const name = X509_get_subject_name(made);
  const auto* const common_name = reinterpret_cast<const unsigned char*>(kPinnedName);
  const bool well = X509_set_version(made, X509_VERSION_3) == 1 && SetRandomSerial(made) &&
                    X509_gmtime_adj(X509_getm_notBefore(made), -kBeforeNow_s) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(made), kValid_s) != nullptr &&
                    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
                    X509_set_issuer_name(made, name) == 1 && X509_set_pubkey(made, key) == 1 &&
                    AddExtension(made, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(made, NID_key_usage, "critical,digitalSignature") &&
                    AddExtension(made, NID_ext_key_usage, "serverAuth") &&
                    AddExtension(made, NID_subject_alt_name, AlternativeNames(names)) &&
                    X509_sign(made, key, EVP_sha256()) != 0;
  if (!well) certificate.reset();
  return certificate;
}

std::string Written(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(bytes));
}

}  // namespace

absl::StatusOr<TlsIdentity> ReadTlsFiles(const TlsFiles& files) {
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError(
        files.key.empty() ? "--tls-cert FILE needs --tls-key FILE, the certificate's private key"
                          : "--tls-key FILE needs --tls-cert FILE, the key's certificate");
  }
  TlsIdentity identity;
  IOBENCH_ASSIGN_OR_RETURN(identity.certificate_pem, ReadPem("--tls-cert", files.certificate));
  if (!files.key.empty()) {
    // Keys of services are often root's, for a group.
    IOBENCH_ASSIGN_OR_RETURN(identity.key_pem, ReadSecretFile("--tls-key", files.key, kMaxPemBytes, SecretReaders::kGroup));
  }
  IOBENCH_ASSIGN_OR_RETURN(identity.ca_pem, ReadPem("--tls-ca", files.ca));
  if (!files.ca.empty() && FirstCertificate(identity.ca_pem) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-ca ", files.ca, ": no certificate in PEM"));
  }
  if (!files.crl.empty() && files.ca.empty()) {
    return absl::InvalidArgumentError("--tls-crl FILE needs --tls-ca FILE, the CA that has signed the revocation list");
  }
  IOBENCH_ASSIGN_OR_RETURN(identity.crl_pem, ReadPem("--tls-crl", files.crl));
  if (!files.crl.empty() && NextRevocationList(ReadingBio(identity.crl_pem).get()) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-crl ", files.crl, ": no revocation list in PEM"));
  }
  if (files.certificate.empty()) return identity;
  const OwnedCertificate certificate = FirstCertificate(identity.certificate_pem);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-cert ", files.certificate, ": no certificate in PEM"));
  }
  const OwnedKey key = PrivateKey(identity.key_pem.text());
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", files.key, ": no private key in PEM, or one with a passphrase"));
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-key ", files.key, " is not the key of the certificate --tls-cert ", files.certificate));
  }
  return identity;
}

absl::StatusOr<TlsIdentity> MakeRunIdentity(const std::vector<std::string>& names) {
  const OwnedKey key(EVP_EC_gen("P-256"));
  const OwnedCertificate certificate = key != nullptr ? SelfSigned(key.get(), names) : nullptr;
  const OwnedBio certificate_text(BIO_new(BIO_s_mem()));
  const OwnedBio key_text(BIO_new(BIO_s_secmem()));
  if (certificate == nullptr || PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return absl::InternalError(
        "OpenSSL cannot make a certificate for the run: give one with --tls-cert and --tls-key");
  }
  return TlsIdentity{Written(certificate_text.get()), Written(key_text.get()), "", ""};
}

std::vector<std::string> NamesOfThisHost() {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) names.emplace_back(host.data());
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return names;
  const std::unique_ptr<ifaddrs, FreedBy<freeifaddrs>> owner(interfaces);
  for (const ifaddrs* each = interfaces; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = nullptr;
    if (each->ifa_addr->sa_family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      address = &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
    }
    if (address == nullptr) continue;
    if (inet_ntop(each->ifa_addr->sa_family, address, text.data(), text.size()) == nullptr) continue;
    names.emplace_back(text.data());
  }
  return names;
}

absl::StatusOr<JoinSecurity> MakeJoinSecurity(const GrpcAddress& address,
                                              const JoinSecurityOptions& options) {
  JoinSecurity security;
  const bool has_token = !options.token.empty() || options.needs_token;
  if (options.insecure) {
    if (!options.token.empty() || options.tls.any()) {
      return absl::InvalidArgumentError(
          "--insecure admits everybody: it cannot be combined with --token-file or --tls-cert, --tls-key, --tls-ca, --tls-crl");
    }
    security.insecure = true;
    return security;
  }
  if (options.tls.certificate.empty() && !options.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        "--tls-ca says who signs the workers' certificates: the coordinator then needs its own, --tls-cert and --tls-key");
  }
  IOBENCH_ASSIGN_OR_RETURN(security.identity, ReadTlsFiles(options.tls));
  const bool elsewhere = address.reachable_from_elsewhere();
  security.tls = elsewhere || has_token || !options.tls.certificate.empty();
  security.asks_for_certificate = !security.identity.ca_pem.empty();
  if (elsewhere && !has_token && !security.asks_for_certificate) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot listen on ", address.ToText(),
        ": other hosts can reach it, and nothing says who may join: give --token-file FILE (it is made, with what "
        "workers need), or certificates on both sides (--tls-cert, --tls-key, --tls-ca), or --insecure on both sides "
        "for a network that you trust"));
  }
  if (security.tls && security.identity.certificate_pem.empty()) {
    std::vector<std::string> names = NamesOfThisHost();
    names.insert(names.end(), options.more_names.begin(), options.more_names.end());
    IOBENCH_ASSIGN_OR_RETURN(security.identity, MakeRunIdentity(names));
    security.made_for_run = true;
  }
  if (!options.token.empty()) {
    IOBENCH_RETURN_IF_ERROR(CheckToken(options.token));
    security.token = options.token;
  } else if (options.needs_token) {
    IOBENCH_ASSIGN_OR_RETURN(security.token, MakeToken());
  }
  security.for_workers.token = security.token;
  // With a CA, workers trust every certificate that it has signed; without one, only the coordinator's own.
  security.for_workers.certificates_pem = security.asks_for_certificate ? security.identity.ca_pem
                                          : security.tls                ? security.identity.certificate_pem
                                                                        : "";
  return security;
}

}  // namespace iobench

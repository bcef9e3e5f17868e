#include "common/transport/grpc/join_credentials.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/transport/guard/openssl_types.h"

namespace iobench {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

bool IsCertificate(const std::string& pem) {
  return NextCertificate(ReadingBio(pem).get()) != nullptr;
}

// Returns the certificates in `text` one after another, without the text between them.
absl::StatusOr<std::string> CertificatesIn(std::string_view text) {
  if (text.find("PRIVATE KEY-----") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "it contains a private key, which belongs to the coordinator alone (--tls-key): remove it");
  }
  std::string all;
  int number = 0;
  for (size_t begin = text.find(kBegin); begin != std::string_view::npos; begin = text.find(kBegin, begin)) {
    ++number;
    const size_t end = text.find(kEnd, begin);
    const std::string pem =
        end == std::string_view::npos
            ? std::string()
            : absl::StrCat(std::string(text.substr(begin, end + kEnd.size() - begin)), "\n");
    if (!IsCertificate(pem)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its certificate number ", number, " is damaged: copy the file again"));
    }
    all += pem;
    begin = end;
  }
  return all;
}

}  // namespace

absl::Status CheckToken(std::string_view token) {
  if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) {
    return absl::InvalidArgumentError(absl::StrCat("its first line must be the token, ", kMinTokenBytes,
                                                   " to ", kMaxTokenBytes, " characters, but has ",
                                                   token.size()));
  }
  for (const char c : token) {
    if (c > ' ' && c <= '~') continue;
    return absl::InvalidArgumentError(
        "its first line must be the token, but has characters that a token cannot have: only letters, digits and "
        "punctuation of ASCII are allowed");
  }
  return absl::OkStatus();
}

Secret SerializeJoinCredentials(const JoinCredentials& credentials) {
  return absl::StrCat(credentials.token.text(), "\n", credentials.certificates_pem);
}

absl::StatusOr<JoinCredentials> ParseJoinCredentials(std::string_view text) {
  if (text.size() > kMaxTokenFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat("it has more than ", kMaxTokenFileBytes >> 10, " KiB"));
  }
  const size_t line_end = std::min(text.find('\n'), text.size());
  std::string_view first_line = text.substr(0, line_end);
  if (!first_line.empty() && first_line.back() == '\r') first_line.remove_suffix(1);
  IOBENCH_RETURN_IF_ERROR(CheckToken(first_line));
  JoinCredentials credentials;
  credentials.token = std::string(first_line);
  IOBENCH_ASSIGN_OR_RETURN(credentials.certificates_pem, CertificatesIn(text.substr(line_end)));
  return credentials;
}

absl::StatusOr<Secret> MakeToken() {
  std::array<unsigned char, 32> bytes{};
  const absl::Cleanup wipe = [&bytes] { OPENSSL_cleanse(bytes.data(), bytes.size()); };
  if (RAND_priv_bytes(bytes.data(), bytes.size()) != 1) {
    return absl::UnavailableError("the system gives no random bytes for the run's token");
  }
  return absl::WebSafeBase64Escape({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool TokensMatch(std::string_view expected, std::string_view offered) {
  if (expected.empty()) return false;
  // Digests of equal length, so that the time does not reveal the length of the expected token either.
  std::array<unsigned char, SHA256_DIGEST_LENGTH> of_expected{};
  std::array<unsigned char, SHA256_DIGEST_LENGTH> of_offered{};
  SHA256(reinterpret_cast<const unsigned char*>(expected.data()), expected.size(), of_expected.data());
  SHA256(reinterpret_cast<const unsigned char*>(offered.data()), offered.size(), of_offered.data());
  return CRYPTO_memcmp(of_expected.data(), of_offered.data(), of_expected.size()) == 0;
}

}  // namespace iobench

// What a worker must have to join a coordinator over a network: the run's token, and the certificates it trusts. Its
// text form is the token file (--token-file), which the coordinator writes, or hands to a worker on standard input.
#ifndef COMMON_TRANSPORT_GRPC_JOIN_CREDENTIALS_H_
#define COMMON_TRANSPORT_GRPC_JOIN_CREDENTIALS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/secret.h"

namespace iobench {

inline constexpr size_t kMinTokenBytes = 16;
inline constexpr size_t kMaxTokenBytes = 512;
inline constexpr size_t kMaxTokenFileBytes = 64 << 10;

struct JoinCredentials {
  // Proves to the coordinator that the worker belongs to the run. Printable ASCII without spaces. Empty: none, as on
  // Unix sockets and loopback, or with certificates on both sides.
  Secret token = {};
  // The certificates, in PEM, that the worker trusts for this coordinator: its own, or those of the CAs that may have
  // signed it. Empty: none, so the connection is not encrypted unless --tls-ca names some.
  std::string certificates_pem = {};

  bool operator==(const JoinCredentials& other) const = default;
};

// Returns the text of a token file: the token, a line break, the certificates. REQUIRES: a token.
Secret SerializeJoinCredentials(const JoinCredentials& credentials);

// The reverse. Line breaks may be CR LF, and lines around the certificates are ignored. InvalidArgument: no valid token
// in the first line (CheckToken), a certificate that is not PEM, a private key, or more than kMaxTokenFileBytes. The
// message never contains the token.
absl::StatusOr<JoinCredentials> ParseJoinCredentials(std::string_view text);

// InvalidArgument: fewer than kMinTokenBytes or more than kMaxTokenBytes characters, or characters other than printable
// ASCII.
absl::Status CheckToken(std::string_view token);

// Returns a new token: 32 random bytes in base64url, 43 characters. Unavailable: the system provides no random bytes.
absl::StatusOr<Secret> MakeToken();

// Compares in a time that does not reveal how much of `offered` is right. False if `expected` is empty.
bool TokensMatch(std::string_view expected, std::string_view offered);

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_JOIN_CREDENTIALS_H_

// SHA-256 (FIPS 180-4) of bytes and files, as 64 lower-case hexadecimal digits; computed by OpenSSL.
#ifndef COMMON_DIGEST_SHA256_H_
#define COMMON_DIGEST_SHA256_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// Returns the digest of all pieces, one after the other.
std::string Sha256Of(std::initializer_list<std::string_view> pieces);

// Reads the file in small parts, so it may have any size. Errors name it (ErrnoStatus).
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

// Returns the digest of the running program's file, even if another file has replaced it by now; empty: it cannot be
// read. Takes up to half a second; computed once per process. Thread-safe.
const std::string& Sha256OfProgram();

}  // namespace iobench

#endif  // COMMON_DIGEST_SHA256_H_

// XXH3 (64 bits) of bytes and files: detects damage, at the speed of memory, but not manipulation; SHA-256 does.
#ifndef COMMON_DIGEST_XXH3_H_
#define COMMON_DIGEST_XXH3_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// Returns the same value on every machine. Another seed gives another function.
uint64_t Xxh3Of(std::string_view bytes, uint64_t seed = 0);

// Hashes a whole regular file, read in small parts. Errors name it (ErrnoStatus).
absl::StatusOr<uint64_t> Xxh3OfFile(const std::string& path);

// Hashes the running program's file, even if another file has replaced it by now; 0: it cannot be read. Computed once
// per process. Thread-safe.
uint64_t Xxh3OfProgram();

}  // namespace iobench

#endif  // COMMON_DIGEST_XXH3_H_

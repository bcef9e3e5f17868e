// XXH3 (64 bits) of bytes and files: finds damage, at the speed of memory. It resists no attacker; SHA-256 does.
#ifndef COMMON_DIGEST_XXH3_H_
#define COMMON_DIGEST_XXH3_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// Equal on every machine. Another seed gives another function.
uint64_t Xxh3Of(std::string_view bytes, uint64_t seed = 0);

// Of a whole regular file, read in small parts. Errors name it (ErrnoStatus).
absl::StatusOr<uint64_t> Xxh3OfFile(const std::string& path);

// Of the file of the running program, even if another one has replaced it by now; 0: it cannot be read. Computed once
// per process. Thread-safe.
uint64_t Xxh3OfProgram();

}  // namespace iobench

#endif  // COMMON_DIGEST_XXH3_H_

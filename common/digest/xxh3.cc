#include "common/digest/xxh3.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>

#include "common/digest/file_parts.h"
#include "common/status_util.h"

namespace iobench {

uint64_t Xxh3Of(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

absl::StatusOr<uint64_t> Xxh3OfFile(const std::string& path) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  IOBENCH_RETURN_IF_ERROR(ReadInParts(
      path, [&state](std::string_view part) { XXH3_64bits_update(state.get(), part.data(), part.size()); }));
  return XXH3_64bits_digest(state.get());
}

uint64_t Xxh3OfProgram() {
  static const uint64_t hash = Xxh3OfFile("/proc/self/exe").value_or(0);
  return hash;
}

}  // namespace iobench

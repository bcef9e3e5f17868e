// Sizes and rates as people write and read them.
#ifndef COMMON_UNITS_H_
#define COMMON_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

inline constexpr uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
inline constexpr uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
inline constexpr uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}

// "64k", "4m", "1g", "2t", "64KiB" (either case; powers of 1024), "512b" bytes; a bare number is in `bare_unit_bytes`
// (IOzone: KiB). InvalidArgument for anything else, for 2^63 and above; the message quotes the text. "64MB" is refused
// with the two sizes that it could mean.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text, uint64_t bare_unit_bytes);

// "5s", "500ms", "20us", "2min", "1h"; a bare number is in `bare_unit_s`. InvalidArgument quotes the text.
absl::StatusOr<double> ParseSeconds(std::string_view text, double bare_unit_s);

std::string FormatBytes(double bytes);          // "4 MiB", "1.5 GiB", "512 B"
std::string FormatBytesPerSecond(double rate);  // "1.23 GiB/s"; "-" when not finite
std::string FormatSeconds(double seconds);      // "1.2 s", "340 ms", "25 us", "80 ns", "3 min 05 s"
std::string FormatCount(double count);          // "1,234,567"

}  // namespace iobench

#endif  // COMMON_UNITS_H_

// Parses and formats sizes, rates and times.
#ifndef COMMON_TEXT_UNITS_H_
#define COMMON_TEXT_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// Sizes in bytes, written as people think of them: 64_KiB. Powers of 1024.
inline constexpr uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
inline constexpr uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
inline constexpr uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}

// Parses "64k", "4m", "1g", "2t", "1p", "1e" or "64KiB" (either case, powers of 1024) and "512b" (bytes). A bare number is
// multiplied by `bare_unit_bytes` (IOzone's unit is KiB). InvalidArgument: any other text, or 2^63 and above; the
// message quotes the text. "64MB" is refused as ambiguous, with the two sizes that it could mean.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text, uint64_t bare_unit_bytes);

// Parses "5s", "500ms", "20us", "2min" or "1h" (also "sec" and "m") to seconds. A bare number is multiplied by
// `bare_unit_s`. Negative times are not refused; the caller checks the range. InvalidArgument: any other text; the
// message quotes it.
absl::StatusOr<double> ParseSeconds(std::string_view text, double bare_unit_s);

// Format for people with about three significant digits (FormatCount: all digits from 100 on). Bytes use powers of
// 1024. All return "-" for values that are not finite.
std::string FormatBytes(double bytes);          // "4 MiB", "1.5 GiB", "512 B"
std::string FormatBytesPerSecond(double rate);  // "1.23 GiB/s"
std::string FormatSeconds(double seconds);      // "1.2 s", "340 ms", "25 us", "80 ns", "3 min 05 s"
std::string FormatCount(double count);          // "1,234,567"

std::string Counted(int64_t count, std::string_view noun);  // "1 lane", "1,234 lanes"
// Sizes without rounding, so that different sizes have different texts, in the largest unit that allows it.
std::string ShortSize(uint64_t bytes);   // "64k", "47008b": as options accept it
std::string ExactBytes(uint64_t bytes);  // "64 KiB", "47008 bytes"

}  // namespace iobench

#endif  // COMMON_TEXT_UNITS_H_

#include "common/text/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/number_words.h"

namespace iobench {
namespace {

// Three significant digits: "1.5", "12.3", "123", "1,023".
std::string ThreeDigits(double value) {
  const double magnitude = std::fabs(value);
  return Grouped(value, magnitude < 10 ? 2 : magnitude < 100 ? 1 : 0);  // 9.996 gives 10.00, then 10
}

// Of sizes, in powers of 1024.
constexpr std::string_view kPrefixes = "kmgtpe";
constexpr char kNeeded[] = "is not a whole number with an optional b, k, m, g, t, p or e, as in 64k";
constexpr char kTooLarge[] = "is too large: 2^63 bytes or more";

absl::Status BadSize(std::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("size \"", std::string(text), "\" ", why));
}

// Converts the suffix of a size: "", "k", "KiB" … nullopt: unknown unit.
std::optional<uint64_t> UnitBytes(std::string_view unit, uint64_t bare_unit_bytes) {
  if (unit.empty()) return bare_unit_bytes;
  const std::string lower = absl::AsciiStrToLower(std::string(unit));
  if (lower == "b") return 1;
  const size_t power = kPrefixes.find(lower[0]);
  const bool binary = lower.size() == 1 || lower.substr(1) == "ib";
  if (power == std::string_view::npos || !binary) return std::nullopt;
  return 1_KiB << (10 * power);
}

// "MB" can mean a million bytes or a mebibyte. The message gives both readings instead of assuming one.
absl::Status BadUnit(std::string_view text, std::string_view number, std::string_view unit) {
  const std::string lower = absl::AsciiStrToLower(std::string(unit));
  const size_t power =
      lower.size() == 2 && lower[1] == 'b' ? kPrefixes.find(lower[0]) : std::string_view::npos;
  if (power == std::string_view::npos) return BadSize(text, kNeeded);
  return BadSize(text, absl::StrCat("may mean powers of 1000 or of 1024: write ", std::string(number),
                                    lower.substr(0, 1), " or ", std::string(number),
                                    absl::AsciiStrToUpper(lower.substr(0, 1)), "iB for powers of 1024, or ",
                                    std::string(number), std::string(3 * (power + 1), '0'), "b"));
}

// The size as a multiple of 1024 to the power of `second`, which is at most 3.
std::pair<uint64_t, size_t> InLargestUnit(uint64_t bytes) {
  size_t unit = 0;
  for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return {bytes, unit};
}

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(std::string_view text, uint64_t bare_unit_bytes) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return BadSize(text, kNeeded);
  const std::optional<uint64_t> unit = UnitBytes(text.substr(digits), bare_unit_bytes);
  if (!unit) return BadUnit(text, text.substr(0, digits), text.substr(digits));
  constexpr uint64_t kMax = (uint64_t{1} << 63) - 1;
  uint64_t number = 0;
  for (char digit : text.substr(0, digits)) {
    const auto value = static_cast<uint64_t>(digit - '0');
    if (number > (kMax - value) / 10) return BadSize(text, kTooLarge);
    number = number * 10 + value;
  }
  if (*unit != 0 && number > kMax / *unit) return BadSize(text, kTooLarge);
  return number * *unit;
}

absl::StatusOr<double> ParseSeconds(std::string_view text, double bare_unit_s) {
  const size_t end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  // "5e3" is a number; "e" does not start any unit.
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"sec", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  double number = NAN, unit_s = text.substr(end).empty() ? bare_unit_s : NAN;
  for (const auto& [name, seconds] : kUnits) {
    if (text.substr(end) == name) unit_s = seconds;
  }
  if (!absl::SimpleAtod(absl::string_view(text.data(), end), &number) || !std::isfinite(number * unit_s)) {
    return absl::InvalidArgumentError(
        absl::StrCat("time \"", std::string(text),
                     "\" is not a number with an optional us, ms, s, min, h or d, as in 500ms"));
  }
  return number * unit_s;
}

std::string FormatBytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  // 1023.5 KiB would be displayed as 1024 KiB.
  while (std::fabs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(ThreeDigits(bytes), " ", kUnits[unit]);
}

std::string FormatBytesPerSecond(double rate) {
  return std::isfinite(rate) ? absl::StrCat(FormatBytes(rate), "/s") : "-";
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return absl::StrCat("-", FormatSeconds(-seconds));
  if (seconds == 0) return "0 s";
  if (seconds < 999.5e-9) return absl::StrCat(ThreeDigits(seconds * 1e9), " ns");
  if (seconds < 999.5e-6) return absl::StrCat(ThreeDigits(seconds * 1e6), " us");
  if (seconds < 999.5e-3) return absl::StrCat(ThreeDigits(seconds * 1e3), " ms");
  if (seconds < 59.95) return absl::StrCat(ThreeDigits(seconds), " s");
  if (seconds < 3599.5) {
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    return absl::StrFormat("%d min %02d s", whole / 60, whole % 60);
  }
  const double minutes = std::round(seconds / 60);
  return absl::StrFormat("%.0f h %02.0f min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string FormatCount(double count) {
  if (!std::isfinite(count)) return "-";
  if (std::fabs(count) < 100) return ThreeDigits(count);  // so that 0.5 ops/s is not rounded to 1
  return Grouped(count, 0);
}

std::string Counted(int64_t count, std::string_view noun) {
  return absl::StrCat(FormatCount(static_cast<double>(count)), " ", std::string(noun), count == 1 ? "" : "s");
}

std::string ShortSize(uint64_t bytes) {
  const auto [count, unit] = InLargestUnit(bytes);
  static constexpr const char* kLetters[] = {"b", "k", "m", "g"};
  return absl::StrCat(count, kLetters[unit]);
}

std::string ExactBytes(uint64_t bytes) {
  const auto [count, unit] = InLargestUnit(bytes);
  static constexpr const char* kNames[] = {" bytes", " KiB", " MiB", " GiB"};
  return absl::StrCat(count, kNames[unit]);
}

}  // namespace iobench

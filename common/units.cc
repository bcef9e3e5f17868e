#include "common/units.h"

#include <array>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace iobench {
namespace {

// Three significant digits, no more decimals than say something: "1.5", "12.3", "123", "4".
std::string ThreeDigits(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude < 10 ? 2 : magnitude < 100 ? 1 : 0;  // 9.996 gives 10.00, then 10
  std::string text = absl::StrFormat("%.*f", decimals, value);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

absl::Status BadSize(std::string_view text, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat("size \"", std::string(text), "\" ", why));
}

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(std::string_view text, uint64_t bare_unit_bytes) {
  constexpr char kNeeded[] = "is not a whole number with an optional b, k, m, g or t, as in 64k";
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  if (digits == 0 || text.size() > digits + 1) return BadSize(text, kNeeded);
  uint64_t unit = bare_unit_bytes;
  if (digits < text.size()) {
    switch (absl::ascii_tolower(static_cast<unsigned char>(text[digits]))) {
      case 'b':
        unit = 1;
        break;
      case 'k':
        unit = 1_KiB;
        break;
      case 'm':
        unit = 1_MiB;
        break;
      case 'g':
        unit = 1_GiB;
        break;
      case 't':
        unit = 1024_GiB;
        break;
      default:
        return BadSize(text, kNeeded);
    }
  }
  constexpr uint64_t kMost = (uint64_t{1} << 63) - 1;
  uint64_t number = 0;
  for (char digit : text.substr(0, digits)) {
    const auto value = static_cast<uint64_t>(digit - '0');
    if (number > (kMost - value) / 10) return BadSize(text, "is too large: 2^63 bytes or more");
    number = number * 10 + value;
  }
  if (unit != 0 && number > kMost / unit) return BadSize(text, "is too large: 2^63 bytes or more");
  return number * unit;
}

std::string FormatBytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  // 1023.5 KiB would be shown as 1024 KiB.
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
  if (std::fabs(count) < 100) return ThreeDigits(count);  // a rate of 0.5 ops/s is not 1
  std::string text = absl::StrFormat("%.0f", count);
  const size_t first_digit = text[0] == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

}  // namespace iobench

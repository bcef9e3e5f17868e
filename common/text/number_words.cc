#include "common/text/number_words.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace iobench {
namespace {

// Times are whole nanoseconds, so many lie halfway between two figures: 7.775 us. Converting units (x 1e-6, x 1e6)
// leaves them slightly above or below by chance, so that two reports of one time would differ. Therefore all of them
// are rounded up.
std::string Rounded(double value, int decimals) {
  constexpr double kFarMoreThanTheError = 1e-12;
  return absl::StrFormat("%.*f", decimals, value * (1 + kFarMoreThanTheError));
}

}  // namespace

std::string Grouped(double value, int decimals) {
  std::string text = Rounded(value, decimals);
  size_t end = text.find('.');
  if (end == std::string::npos) {
    end = text.size();
  } else {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  const size_t first_digit = text[0] == '-' ? 1 : 0;
  for (size_t i = std::min(end, text.size()); i > first_digit + 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text == "-0" ? "0" : text;
}

std::string FormatSignificant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  constexpr int kMaxDecimals = 12;
  const int whole_digits = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  return Grouped(value, std::clamp(digits - whole_digits, 0, kMaxDecimals));
}

}  // namespace iobench

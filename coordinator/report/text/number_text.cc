#include "coordinator/report/text/number_text.h"

#include <charconv>
#include <cmath>

namespace iobench {

void AppendShortest(double value, std::string& out) {
  const double magnitude = std::fabs(value);
  const bool plain = value == 0 || (magnitude >= 1e-6 && magnitude < 1e17);
  char text[64];  // 0.000001 and 17 digits, or 17 digits and an exponent
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  out.append(text, std::to_chars(text, text + sizeof(text), value, format).ptr);
}

}  // namespace iobench

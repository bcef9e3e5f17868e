#include "coordinator/report/text/path_words.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {

std::string RatioText(const v1::EachPathCell& cell) {
  return std::isfinite(cell.of_first()) ? Percent(100 * cell.of_first()) : "-";
}

std::string VerdictText(const v1::EachPathCell& cell) {
  if (cell.verdict().empty()) return "";
  return absl::StrFormat("%s (%+.1f %% to %+.1f %%)", cell.verdict(), 100 * (cell.low() - 1), 100 * (cell.high() - 1));
}

}  // namespace iobench

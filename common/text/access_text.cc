#include "common/text/access_text.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

absl::Status BadAccess(const std::string& text, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "access \"", text, "\" (--access): ", why,
      "; write zipf:THETA (such as zipf:1.1), pareto:H (pareto:0.2), hot:RECORDS/OPS in percent (hot:20/80) or "
      "normal:DEVIATION in percent of the records (normal:10)"));
}

std::optional<double> NumberIn(absl::string_view text, double above, double max) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !(number > above && number <= max)) return std::nullopt;
  return number;
}

}  // namespace

absl::StatusOr<Access> ParseAccess(const std::string& text) {
  if (text.empty()) return Access{};
  const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const auto& [kind, numbers] = sides;
  if (kind == "zipf") {
    const std::optional<double> theta = NumberIn(numbers, 0, 10);
    if (!theta) return BadAccess(text, "THETA is a number above 0, up to 10");
    return Access{Access::Kind::kZipf, *theta};
  }
  if (kind == "pareto") {
    const std::optional<double> h = NumberIn(numbers, 0, 0.5);
    if (!h || *h == 0.5) return BadAccess(text, "H is a number above 0 and below 0.5");
    return Access{Access::Kind::kPareto, *h};
  }
  if (kind == "hot") {
    const std::pair<absl::string_view, absl::string_view> shares = absl::StrSplit(numbers, absl::MaxSplits('/', 1));
    const std::optional<double> records = NumberIn(shares.first, 0, 100), ops = NumberIn(shares.second, 0, 100);
    if (!records || !ops) return BadAccess(text, "RECORDS and OPS are percentages above 0, up to 100");
    if (*records == 100 || *ops < *records)
      return BadAccess(text, "RECORDS is below 100, and OPS is not below RECORDS");
    return Access{Access::Kind::kHot, *records, *ops};
  }
  if (kind == "normal") {
    const std::optional<double> deviation = NumberIn(numbers, 0, 100);
    if (!deviation) return BadAccess(text, "DEVIATION is a percentage above 0, up to 100");
    return Access{Access::Kind::kNormal, *deviation};
  }
  return BadAccess(text, "there is no such distribution");
}

}  // namespace iobench

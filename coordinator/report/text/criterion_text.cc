#include "coordinator/report/text/criterion_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

std::string FigureOfUnit(const std::string& unit, double value) {
  if (!std::isfinite(value)) return "-";
  if (unit == "B/s") return FormatBytesPerSecond(value);
  if (unit == "ops/s") return OpsPerSecond(value);
  if (unit == "us") return Microseconds(value);
  if (unit == "marks") return value == 0 ? "none" : Counted(std::llround(value), "mark");
  return FormatCount(value);
}

}  // namespace

const char* VerdictText(const v1::CriterionReport& criterion) {
  if (criterion.met()) return "met";
  return criterion.problem().empty() ? "not met" : "undecided";
}

std::string MeasuredText(const v1::CriterionReport& criterion) {
  std::string text = FigureOfUnit(criterion.unit(), criterion.measured());
  const bool looks_equal = text == FigureOfUnit(criterion.unit(), criterion.limit());
  if (!looks_equal || criterion.met() || criterion.measured() == criterion.limit()) return text;
  text.clear();
  AppendShortest(criterion.measured(), text);
  return criterion.unit().empty() ? text : absl::StrCat(text, " ", criterion.unit());
}

std::string RunVerdictText(const v1::RunReport& report) {
  const auto& criteria = report.criteria();
  if (criteria.empty()) return {};
  const auto met = std::count_if(criteria.begin(), criteria.end(),
                                 [](const v1::CriterionReport& each) { return each.met(); });
  const auto undecided = std::count_if(criteria.begin(), criteria.end(), [](const v1::CriterionReport& each) {
    return !each.met() && !each.problem().empty();
  });
  const auto all = criteria.size();
  if (met == all) return all == 1 ? "The criterion is met." : absl::StrCat("All ", all, " criteria are met.");
  const auto missed = all - met - undecided;
  const std::string of_all = absl::StrCat(" of ", all, all == 1 ? " criterion" : " criteria");
  std::string text = missed > 0 ? absl::StrCat(missed, of_all, missed == 1 ? " is" : " are", " not met") : "";
  if (undecided > 0) {
    absl::StrAppend(&text, missed > 0 ? absl::StrCat(", ", undecided) : absl::StrCat(undecided, of_all),
                    " could not be decided");
  }
  return text + ".";
}

}  // namespace iobench

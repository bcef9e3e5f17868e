#include "coordinator/report/console/console_criteria.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "coordinator/report/text/criterion_text.h"

namespace iobench {

void PrintCriteria(const v1::RunReport& report, ConsolePage& page) {
  if (report.criteria().empty()) return;
  const bool all_met = std::all_of(report.criteria().begin(), report.criteria().end(),
                                   [](const v1::CriterionReport& each) { return each.met(); });
  page.Line({{"criteria", Tone::kStrong}, {RunVerdictText(report), all_met ? Tone::kStrong : Tone::kError}});
  using Align = TextTable::Align;
  TextTable table({{"criterion", Align::kLeft, false, true},
                   {"measured"},
                   {"verdict", Align::kLeft},
                   {"decided by", Align::kLeft, true}});
  for (const v1::CriterionReport& each : report.criteria()) {
    table.AddRow(
        {Printable(each.criterion()), MeasuredText(each), VerdictText(each), Printable(each.phase())});
  }
  page.Table(table);
  for (const v1::CriterionReport& each : report.criteria()) {
    if (each.problem().empty()) continue;
    page.Labelled("undecided",
                  absl::StrCat(Printable(each.criterion()), ": ", Printable(each.phase()),
                               each.phase().empty() ? "" : ": ", Printable(each.problem())),
                  Tone::kError);
  }
  page.Blank();
}

}  // namespace iobench

// The mark of a phase whose throughput changed its level.
#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/marks.h"

namespace iobench {

std::string MovedUntilText(const v1::RateChange& change) {
  const std::string moved = change.bytes_until() > 0
                                ? FormatBytes(static_cast<double>(change.bytes_until()))
                                : Counted(static_cast<int64_t>(change.ops_until()), "op");
  return absl::StrCat(FormatSeconds(change.at_s()), " and ", moved);
}

std::string LevelText(const v1::PhaseReport& report, double per_s) {
  return report.headline_in_ops() ? absl::StrCat(FormatCount(per_s), " ops/s") : FormatBytesPerSecond(per_s);
}

std::optional<v1::Mark> RateMark(const v1::PhaseReport& report) {
  if (report.changes().empty()) return std::nullopt;
  double least = report.changes(0).before_per_s(), most = least;
  for (const v1::RateChange& change : report.changes()) {
    least = std::min(least, change.after_per_s());
    most = std::max(most, change.after_per_s());
  }
  const v1::RateChange& last = *report.changes().rbegin();
  return MakeMark(mark_code::kRateChanged, "phase", most / least, 0,
                  absl::StrCat("the headline is the mean of ", report.changes_size() + 1, " levels, of ",
                               LevelText(report, least), " to ", LevelText(report, most), "; the last change was after ",
                               MovedUntilText(last)));
}

}  // namespace iobench

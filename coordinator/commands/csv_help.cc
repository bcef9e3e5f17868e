#include "coordinator/commands/csv_help.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/display_text.h"
#include "coordinator/live/live_csv.h"
#include "coordinator/report/csv_writer.h"
#include "coordinator/report/timeline/timeline_writer.h"

namespace iobench {
namespace {

constexpr size_t kIndent = 36, kWidth = 100;

void AppendColumns(std::string_view title, std::span<const CsvColumn> columns, std::string& text) {
  absl::StrAppend(&text, "\n", std::string(title), "\n");
  for (const CsvColumn& column : columns) {
    std::string begin = absl::StrFormat("  %-25s%-9s", column.name, column.unit);
    for (const std::string& line : Wrapped(column.meaning, kWidth - kIndent)) {
      absl::StrAppend(&text, begin, line, "\n");
      begin = std::string(kIndent, ' ');
    }
  }
}

}  // namespace

std::string CsvHelp() {
  const std::vector<CsvColumn> lanes = LanesCsvColumns(), phases = PhasesCsvColumns();
  // The first columns of phases.csv are those of result.csv.
  const auto own = std::find_if(phases.begin(), phases.end(), [&lanes](const CsvColumn& column) {
    return std::none_of(lanes.begin(), lanes.end(),
                        [&column](const CsvColumn& lane) { return lane.name == column.name; });
  });
  std::string text =
      "The columns of the CSV files, in order: name, unit, meaning. An empty cell is unknown, or does not\n"
      "apply; it is never 0. Names stay; new columns are added at the end. docs/definitions.md defines the\n"
      "figures.\n";
  AppendColumns("result.csv (--format lanes-csv): a row per phase, client and lane", lanes, text);
  text += "\nphases.csv (--format csv): a row per phase, whose figures may be added up; as in result.csv:\n";
  std::string shared;
  for (auto column = phases.begin(); column != own; ++column)
    absl::StrAppend(&shared, shared.empty() ? "" : ", ", std::string(column->name));
  for (const std::string& line : Wrapped(shared, kWidth - 2)) absl::StrAppend(&text, "  ", line, "\n");
  AppendColumns("and then", std::span(own, phases.end()), text);
  AppendColumns("timeline.csv (--format timeline-csv): a row per phase, client and slice of time",
                TimelineCsvColumns(), text);
  AppendColumns("--live-csv FILE: each second, a row for the cluster and one per client", LiveCsvColumns(),
                text);
  return text;
}

}  // namespace iobench

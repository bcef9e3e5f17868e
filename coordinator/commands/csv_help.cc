#include "coordinator/commands/csv_help.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/text/terminal_width.h"
#include "coordinator/live/live_csv.h"
#include "coordinator/report/csv_columns.h"
#include "coordinator/report/timeline/timeline_writer.h"

namespace iobench {
namespace {

constexpr size_t kIndent = 36;

void AppendColumns(std::string_view title, std::span<const CsvColumn> csv, size_t columns, std::string& text) {
  absl::StrAppend(&text, "\n", Hanging("", 0, title, columns));
  for (const CsvColumn& column : csv) {
    absl::StrAppend(&text, Hanging(absl::StrFormat("  %-25s%s", column.name, column.unit), kIndent, column.meaning, columns));
  }
}

}  // namespace

std::string CsvHelp(size_t columns) {
  const std::vector<CsvColumn> lanes = LanesCsvColumns(), clients = ClientsCsvColumns(), phases = PhasesCsvColumns();
  // The first columns of phases.csv are those of result.csv.
  const auto own = std::find_if(phases.begin(), phases.end(), [&lanes](const CsvColumn& column) {
    return std::none_of(lanes.begin(), lanes.end(),
                        [&column](const CsvColumn& lane) { return lane.name == column.name; });
  });
  std::string text = Hanging("", 0,
                             "The columns of the CSV files, in order: name, unit, meaning. An empty cell is unknown, or "
                             "does not apply; it is never 0. Names stay; new columns are added at the end. "
                             "docs/definitions.md defines the figures.",
                             columns);
  AppendColumns("result.csv (--format lanes-csv): a row per phase, client and lane", lanes, columns, text);
  absl::StrAppend(&text, "\n",
                  Hanging("", 0, "phases.csv (--format csv): a row per phase, whose figures may be added up; as in result.csv:",
                          columns));
  std::string shared;
  for (auto column = phases.begin(); column != own; ++column)
    absl::StrAppend(&shared, shared.empty() ? "" : ", ", std::string(column->name));
  absl::StrAppend(&text, Hanging("", 2, shared, columns));
  AppendColumns("and then", std::span(own, phases.end()), columns, text);
  AppendColumns("clients.csv (--format clients-csv): a row per phase and client", clients, columns, text);
  AppendColumns("timeline.csv (--format timeline-csv): a row per phase, client and slice of time",
                TimelineCsvColumns(), columns, text);
  AppendColumns("--live-csv FILE: each second, a row for the cluster and one per client", LiveCsvColumns(),
                columns, text);
  return text;
}

}  // namespace iobench

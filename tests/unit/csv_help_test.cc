// `--help csv` has every column of every CSV file, in order, with the unit that its name ends in and a meaning.
#include "coordinator/commands/csv_help.h"

#include <catch2/catch.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/live/live_csv.h"
#include "coordinator/report/csv_columns.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/timeline/timeline_writer.h"

namespace iobench {
namespace {

struct File {
  std::string_view title;  // begins its part of the help
  std::vector<CsvColumn> columns;
};

std::vector<File> Files() {
  const auto timeline = TimelineCsvColumns(), live = LiveCsvColumns();
  return {{"result.csv", LanesCsvColumns()},
          {"phases.csv", PhasesCsvColumns()},
          {"clients.csv", ClientsCsvColumns()},
          {"timeline.csv", {timeline.begin(), timeline.end()}},
          {"--live-csv", {live.begin(), live.end()}}};
}

TEST_CASE("the first line of a file has the columns that its help lists") {
  std::ostringstream lanes, clients, phases, timeline;
  REQUIRE(kLanesCsvFormat.write_titles(lanes).ok());
  REQUIRE(kClientsCsvFormat.write_titles(clients).ok());
  REQUIRE(kPhasesCsvFormat.write_titles(phases).ok());
  REQUIRE(WriteTimelineCsv({}, timeline).ok());
  CHECK(lanes.str() == CsvTitles(LanesCsvColumns()));
  CHECK(clients.str() == CsvTitles(ClientsCsvColumns()));
  CHECK(phases.str() == CsvTitles(PhasesCsvColumns()));
  CHECK(timeline.str() == CsvTitles(TimelineCsvColumns()));
}

TEST_CASE("--help csv lists every column of every file, in order") {
  const std::string help = CsvHelp(100);
  size_t at = 0;
  for (const File& file : Files()) {
    at = help.find(absl::StrCat("\n", std::string(file.title)), at);
    REQUIRE(at != std::string::npos);
    for (const CsvColumn& column : file.columns) {
      INFO(std::string(file.title) << ": " << std::string(column.name));
      at = help.find(std::string(column.name), at);
      REQUIRE(at != std::string::npos);
      at += column.name.size();
    }
  }
}

TEST_CASE("a column has a meaning, and the unit in which its name ends") {
  constexpr struct {
    std::string_view end, unit;
  } kUnits[] = {{"bytes_per_s", "bytes/s"}, {"ops_per_s", "ops/s"}, {"_us", "us"}, {"_ms", "ms"},
                {"_percent", "%"},          {"_bytes", "bytes"},    {"_s", "s"}};
  for (const File& file : Files()) {
    for (const CsvColumn& column : file.columns) {
      INFO(std::string(file.title) << ": " << std::string(column.name));
      CHECK_FALSE(column.meaning.empty());
      for (const auto& unit : kUnits) {
        if (!column.name.ends_with(unit.end)) continue;
        CHECK(std::string(column.unit) == std::string(unit.unit));
        break;
      }
    }
  }
}

}  // namespace
}  // namespace iobench

// report.sqlite: its tables have what the CSV files have, with numbers as numbers and unknown cells as NULL.
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "catch2/catch.hpp"
#include "coordinator/report/csv_columns.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/sqlite/csv_rows.h"
#include "coordinator/report/sqlite/sqlite_writer.h"
#include "coordinator/report/tables/table_list.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

// The database of a report, opened again.
class Reader {
 public:
  explicit Reader(const v1::RunReport& report) {
    std::ostringstream out;
    REQUIRE(WriteSqlite(report, out).ok());
    std::ofstream(file_, std::ios::binary) << out.str();
    REQUIRE(sqlite3_open_v2(file_.c_str(), &db_, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  }
  ~Reader() { sqlite3_close(db_); }

  // Rows with | between cells.
  std::vector<std::string> Rows(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    INFO(sql);
    REQUIRE(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    std::vector<std::string> rows;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::vector<std::string> cells;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const unsigned char* const text = sqlite3_column_text(statement, i);
        cells.emplace_back(text == nullptr ? "NULL" : reinterpret_cast<const char*>(text));
      }
      rows.push_back(absl::StrJoin(cells, "|"));
    }
    sqlite3_finalize(statement);
    return rows;
  }
  std::string One(const std::string& sql) const {
    const std::vector<std::string> rows = Rows(sql);
    REQUIRE(rows.size() == 1);
    return rows[0];
  }

 private:
  const TempDir directory_;
  const std::string file_ = directory_ / "report.sqlite";
  sqlite3* db_ = nullptr;
};

TEST_CASE("tables have the rows and columns of the CSV files") {
  const v1::RunReport report = GoldenReport();
  const Reader reader(report);
  CHECK(reader.One("PRAGMA integrity_check") == "ok");
  const struct {
    const char* table;
    const ReportFormat& format;
    std::vector<CsvColumn> columns;
  } files[] = {{"phases", kPhasesCsvFormat, PhasesCsvColumns()},
               {"clients", kClientsCsvFormat, ClientsCsvColumns()},
               {"lanes", kLanesCsvFormat, LanesCsvColumns()}};
  for (const auto& file : files) {
    INFO(file.table);
    std::ostringstream csv;
    REQUIRE(WriteReport(file.format, report, csv).ok());
    std::vector<std::vector<std::string>> rows;
    REQUIRE(ForEachCsvRow(csv.str(), [&](std::span<const std::string> cells) {
              rows.emplace_back(cells.begin(), cells.end());
              return absl::OkStatus();
            }).ok());
    CHECK(reader.Rows(absl::StrCat("SELECT name FROM pragma_table_info('", file.table, "')")) == rows[0]);
    CHECK(reader.One(absl::StrCat("SELECT count(*) FROM ", file.table)) == absl::StrCat(rows.size() - 1));
    CHECK(reader.One(absl::StrCat("SELECT count(*) FROM columns WHERE \"table\" = '", file.table, "'")) ==
          absl::StrCat(file.columns.size()));
    for (size_t column = 0; column < rows[0].size(); ++column) {
      const std::vector<std::string> cells =
          reader.Rows(absl::StrCat("SELECT \"", rows[0][column], "\" FROM ", file.table));
      for (size_t row = 1; row < rows.size(); ++row) {
        INFO(rows[0][column] << " of row " << row);
        const std::string& cell = rows[row][column];
        const bool is_text = file.columns[column].holds == CsvColumn::Holds::kTexts;
        CHECK((cells[row - 1] == "NULL") == cell.empty());
        if (!cell.empty() && is_text) CHECK(cells[row - 1] == cell);
        if (!cell.empty() && !is_text) CHECK(std::stod(cells[row - 1]) == Approx(std::stod(cell)));
      }
    }
  }
  CHECK(std::stoi(reader.One("SELECT count(*) FROM timeline")) > 0);
}

TEST_CASE("a text that looks like a number stays a text, and a number is one") {
  v1::RunReport report = GoldenReport();
  report.mutable_run()->set_label("007");
  const Reader reader(report);
  CHECK(reader.One("SELECT label FROM run") == "007");
  CHECK(reader.Rows("SELECT DISTINCT label, typeof(label) FROM phases") == std::vector<std::string>{"007|text"});
  CHECK(reader.Rows("SELECT DISTINCT typeof(phase_index) FROM lanes") == std::vector<std::string>{"integer"});
}

TEST_CASE("every table of the report is there, by its name") {
  const v1::RunReport report = GoldenReport();
  const Reader reader(report);
  const auto found = reader.Rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  const std::set<std::string> names(found.begin(), found.end());
  for (const auto& [source, table] : TablesOf(report, "CSV")) {
    std::string name = absl::StrCat("report_", source->id);
    for (char& c : name) c = c == '-' ? '_' : c;
    INFO(name);
    CHECK(names.contains(name));
    CHECK(reader.One(absl::StrCat("SELECT count(*) FROM ", name)) == absl::StrCat(PlainOf(table).rows.size()));
  }
}

}  // namespace
}  // namespace iobench

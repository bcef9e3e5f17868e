#include "coordinator/report/sqlite/sqlite_writer.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_util.h"
#include "coordinator/report/csv_columns.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/sqlite/csv_rows.h"
#include "coordinator/report/tables/table_list.h"
#include "coordinator/report/timeline/timeline_writer.h"

namespace iobench {
namespace {

// Marks a file as ours, and its layout: "iobe", 1.
constexpr char kIdentity[] = "PRAGMA application_id = 1768907365; PRAGMA user_version = 1;";

// A database in memory. Not thread-safe.
class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(db_); }

  absl::Status Open() {
    return Checked(sqlite3_open(":memory:", &db_));
  }
  absl::Status Execute(const std::string& sql) {
    return Checked(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
  }
  sqlite3* handle() const { return db_; }
  absl::Status Checked(int result) const {
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the database could not be written: ", sqlite3_errmsg(db_)));
  }

 private:
  sqlite3* db_ = nullptr;
};

struct SqlColumn {
  std::string name;
  bool is_text = false;
};

// Names are ours, but one may be a word of SQL ("index").
std::string Quoted(std::string_view name) {
  return absl::StrCat("\"", std::string(name), "\"");
}

// A table that is filled row by row. `database` must outlive it.
class TableWriter {
 public:
  TableWriter(Database& database, std::string name, std::vector<SqlColumn> columns)
      : database_(database), name_(std::move(name)), columns_(std::move(columns)) {}
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  ~TableWriter() { sqlite3_finalize(insert_); }

  absl::Status Create() {
    std::string create, places;
    for (const SqlColumn& column : columns_) {
      absl::StrAppend(&create, create.empty() ? "" : ", ", Quoted(column.name), column.is_text ? " TEXT" : " NUMERIC");
      absl::StrAppend(&places, places.empty() ? "?" : ", ?");
    }
    IOBENCH_RETURN_IF_ERROR(database_.Execute(absl::StrCat("CREATE TABLE ", Quoted(name_), " (", create, ")")));
    const std::string insert = absl::StrCat("INSERT INTO ", Quoted(name_), " VALUES (", places, ")");
    return database_.Checked(sqlite3_prepare_v2(database_.handle(), insert.c_str(), -1, &insert_, nullptr));
  }

  // Fill the next cells of the row. What is empty or not finite is unknown, and stays NULL.
  void Put(std::string_view text) {
    ++at_;
    if (!text.empty()) sqlite3_bind_text(insert_, at_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void Put(double number) {
    ++at_;
    if (std::isfinite(number)) sqlite3_bind_double(insert_, at_, number);
  }
  // A cell of a CSV file.
  void PutCell(std::string_view cell) {
    if (columns_[static_cast<size_t>(at_)].is_text || cell.empty()) return Put(cell);
    const char* const end = cell.data() + cell.size();
    int64_t whole = 0;
    if (const auto read = std::from_chars(cell.data(), end, whole); read.ec == std::errc() && read.ptr == end) {
      sqlite3_bind_int64(insert_, ++at_, whole);
      return;
    }
    double number = std::nan("");
    std::from_chars(cell.data(), end, number);
    Put(number);
  }
  absl::Status EndRow() {
    IOBENCH_RETURN_IF_ERROR(database_.Checked(sqlite3_step(insert_)));
    sqlite3_reset(insert_);
    sqlite3_clear_bindings(insert_);
    at_ = 0;
    return absl::OkStatus();
  }

  absl::Status AddCsv(const std::string& csv) {
    return ForEachCsvRow(csv, [this](std::span<const std::string> cells) {
      for (const std::string& cell : cells) PutCell(cell);
      return EndRow();
    });
  }

 private:
  Database& database_;
  const std::string name_;
  const std::vector<SqlColumn> columns_;
  sqlite3_stmt* insert_ = nullptr;
  int at_ = 0;  // cells of the row so far
};

std::vector<SqlColumn> ColumnsOf(std::span<const CsvColumn> columns) {
  std::vector<SqlColumn> all;
  for (const CsvColumn& column : columns)
    all.push_back({std::string(column.name), column.holds == CsvColumn::Holds::kTexts});
  return all;
}

// A CSV file of the result as a table. Exactly one of both is there.
struct CsvTable {
  const char* name;
  std::vector<CsvColumn> columns;
  const ReportFormat* format = nullptr;  // written phase by phase, so that one at a time is in memory
  absl::Status (*write)(const v1::RunReport& report, std::ostream& out) = nullptr;
};

std::vector<CsvTable> CsvTables() {
  const std::span<const CsvColumn> timeline = TimelineCsvColumns();
  return {{"phases", PhasesCsvColumns(), &kPhasesCsvFormat},
          {"clients", ClientsCsvColumns(), &kClientsCsvFormat},
          {"lanes", LanesCsvColumns(), &kLanesCsvFormat},
          {"timeline", {timeline.begin(), timeline.end()}, nullptr, WriteTimelineCsv}};
}

absl::Status AddCsvTable(const v1::RunReport& report, const CsvTable& source, Database& database) {
  TableWriter table(database, source.name, ColumnsOf(source.columns));
  IOBENCH_RETURN_IF_ERROR(table.Create());
  if (source.format == nullptr) {
    std::ostringstream csv;
    IOBENCH_RETURN_IF_ERROR(source.write(report, csv));
    const std::string text = std::move(csv).str();
    return table.AddCsv(text.substr(CsvTitles(source.columns).size()));
  }
  for (const v1::PhaseReport& phase : report.phases()) {
    std::ostringstream csv;
    IOBENCH_RETURN_IF_ERROR(source.format->write_phase(report, phase, PlaceInList::kLater, csv));
    IOBENCH_RETURN_IF_ERROR(table.AddCsv(std::move(csv).str()));
  }
  for (const v1::MissingPhase& missing : report.run().missing_phases()) {
    std::ostringstream csv;
    IOBENCH_RETURN_IF_ERROR(source.format->write_missing(report, missing, csv));
    IOBENCH_RETURN_IF_ERROR(table.AddCsv(std::move(csv).str()));
  }
  return absl::OkStatus();
}

// What the columns of those tables mean.
absl::Status AddColumns(std::span<const CsvTable> sources, Database& database) {
  TableWriter table(database, "columns", {{"table", true}, {"name", true}, {"unit", true}, {"meaning", true}});
  IOBENCH_RETURN_IF_ERROR(table.Create());
  for (const CsvTable& source : sources) {
    for (const CsvColumn& column : source.columns) {
      table.Put(source.name);
      for (const std::string_view text : {column.name, column.unit, column.meaning}) table.Put(text);
      IOBENCH_RETURN_IF_ERROR(table.EndRow());
    }
  }
  return absl::OkStatus();
}

absl::Status AddRun(const v1::RunReport& report, Database& database) {
  const v1::RunInfo& run = report.run();
  TableWriter table(database, "run",
                    {{"run_id", true}, {"label", true}, {"started_at", true}, {"command", true},
                     {"program_version", true}, {"transport", true}, {"coordinator", true}, {"exit_code"}});
  IOBENCH_RETURN_IF_ERROR(table.Create());
  for (const std::string* const text : {&run.id(), &run.label(), &run.started_at(), &run.command(),
                                        &run.program_version(), &run.transport(), &run.coordinator_host()}) {
    table.Put(*text);
  }
  table.Put(run.has_exit_code() ? run.exit_code() : std::nan(""));
  return table.EndRow();
}

bool IsText(TableUnit unit) {
  return unit == TableUnit::kText || unit == TableUnit::kRateUnit || unit == TableUnit::kTime;
}

absl::Status AddReportTable(const std::string& id, const Table& source, Database& database) {
  const PlainTable plain = PlainOf(source);
  std::vector<SqlColumn> columns;
  for (const PlainColumn& column : plain.columns)
    columns.push_back({column.id, IsText(column.unit)});
  TableWriter table(database, absl::StrCat("report_", absl::StrReplaceAll(id, {{"-", "_"}})), columns);
  IOBENCH_RETURN_IF_ERROR(table.Create());
  for (const TableRow& row : plain.rows) {
    for (const TableCell& cell : row) {
      cell.is == TableCell::Is::kNumber ? table.Put(cell.number) : table.Put(std::string_view(cell.text));
    }
    IOBENCH_RETURN_IF_ERROR(table.EndRow());
  }
  return absl::OkStatus();
}

absl::Status Fill(const v1::RunReport& report, Database& database) {
  IOBENCH_RETURN_IF_ERROR(database.Execute(kIdentity));
  IOBENCH_RETURN_IF_ERROR(database.Execute("BEGIN"));
  IOBENCH_RETURN_IF_ERROR(AddRun(report, database));
  const std::vector<CsvTable> sources = CsvTables();
  for (const CsvTable& source : sources) IOBENCH_RETURN_IF_ERROR(AddCsvTable(report, source, database));
  for (const auto& [source, table] : TablesOf(report, "CSV"))
    IOBENCH_RETURN_IF_ERROR(AddReportTable(source->id, table, database));
  IOBENCH_RETURN_IF_ERROR(AddColumns(sources, database));
  return database.Execute("COMMIT");
}

}  // namespace

absl::Status SqliteIsBuilt() {
  return absl::OkStatus();
}

absl::Status WriteSqlite(const v1::RunReport& report, std::ostream& out) {
  Database database;
  IOBENCH_RETURN_IF_ERROR(database.Open());
  IOBENCH_RETURN_IF_ERROR(Fill(report, database));
  sqlite3_int64 bytes = 0;
  unsigned char* const image = sqlite3_serialize(database.handle(), "main", &bytes, 0);
  if (image == nullptr) return absl::ResourceExhaustedError("no memory for the database");
  const absl::Cleanup free_image = [image] { sqlite3_free(image); };
  out.write(reinterpret_cast<const char*>(image), bytes);
  return Flush(out, "database");
}

}  // namespace iobench

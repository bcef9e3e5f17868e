#include "coordinator/report/workbook/table_sheets.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/report/workbook/sheets.h"

namespace iobench {
namespace {

// Digits after the point say nothing of rates.
bool IsWhole(TableUnit unit, double value) {
  const bool is_rate = unit == TableUnit::kRate || unit == TableUnit::kBytesPerSecond || unit == TableUnit::kOpsPerSecond;
  return std::isfinite(value) && (is_rate || std::floor(value) == value);
}

}  // namespace

void PrintTable(const Table& table, const Book& book, Sheet& sheet, int most_rows) {
  const PlainTable plain = PlainOf(table);
  SetTitleHeight(sheet);
  uint16_t at = 0;
  for (const PlainColumn& column : plain.columns) {
    sheet.Text(at++, absl::StrCat(column.title, std::string(UnitSuffix(column.unit))), book.formats().header);
  }
  sheet.NextRow();
  const size_t count = std::min(plain.rows.size(), static_cast<size_t>(most_rows));
  for (size_t i = 0; i < count; ++i) {
    at = 0;
    for (const TableCell& cell : plain.rows[i]) {
      if (cell.is == TableCell::Is::kText) sheet.Text(at, cell.text);
      const bool whole = IsWhole(plain.columns[at].unit, cell.number);
      if (cell.is == TableCell::Is::kNumber) whole ? sheet.Whole(at, cell.number) : sheet.Decimal(at, cell.number);
      ++at;
    }
    sheet.NextRow();
  }
  if (count < plain.rows.size())
    sheet.Note(absl::StrCat("Only the first ", count, " of ", plain.rows.size(), " rows are listed."));
}

void SetTableWidths(size_t columns, const Sheet& sheet) {
  worksheet_set_column(sheet.worksheet(), 0, 0, 24, nullptr);
  worksheet_set_column(sheet.worksheet(), 1, static_cast<uint16_t>(columns), 16, nullptr);
}

void AddTableSheets(const v1::RunReport& report, Book& book) {
  for (const auto& [source, table] : TablesOf(report, "workbook")) {
    Sheet sheet(book, book.NextName(source->id));
    SetTableWidths(PlainOf(table).columns.size(), sheet);
    sheet.Title(source->chapter);
    sheet.Note(source->intro);
    PrintTable(table, book, sheet);
    for (const TablePart& part : table.parts) {
      for (const TableNote& note : part.notes) {
        if (note.console_only) continue;
        sheet.Fact(part.name.empty() ? note.label : absl::StrCat(part.name, ": ", note.label), note.text);
      }
    }
  }
}

}  // namespace iobench

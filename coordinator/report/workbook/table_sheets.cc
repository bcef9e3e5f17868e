#include "coordinator/report/workbook/table_sheets.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/report/workbook/sheets.h"

namespace iobench {
namespace {

bool IsDataRate(const PlainColumn& column, const TableCell& cell) {
  return column.unit == TableUnit::kBytesPerSecond || (column.unit == TableUnit::kRate && !cell.in_ops);
}

// "write, bytes/s" as "write, MiB/s".
std::string TitleOf(const PlainColumn& column) {
  if (column.unit != TableUnit::kBytesPerSecond)
    return absl::StrCat(column.title, std::string(UnitSuffix(column.unit)));
  const std::string title = absl::StrReplaceAll(column.title, {{"bytes/s", kMebibytesPerSecond}});
  return title != column.title ? title : absl::StrCat(title, " (", kMebibytesPerSecond, ")");
}

void PrintCell(const PlainColumn& column, const TableCell& cell, uint16_t at, Sheet& sheet) {
  if (cell.is == TableCell::Is::kText) {
    if (column.unit == TableUnit::kTime) return sheet.Time(at, cell.text);
    return sheet.Text(at,
                      column.unit == TableUnit::kRateUnit && !cell.in_ops ? kMebibytesPerSecond : cell.text);
  }
  if (cell.is != TableCell::Is::kNumber) return;
  if (IsDataRate(column, cell)) return sheet.Decimal(at, cell.number / kBytesPerMebibyte);
  // Digits after the point say nothing of rates.
  const bool is_rate = column.unit == TableUnit::kRate || column.unit == TableUnit::kOpsPerSecond;
  is_rate ? sheet.Whole(at, cell.number) : sheet.Decimal(at, cell.number);
}

// The rates of each round of a soak over its rounds, to the right of all tables. Of several phases the first ones, which
// still can be told apart.
void AddRoundsChart(const Table& table, uint32_t titles_row, const Book& book, const Sheet& sheet) {
  constexpr size_t kMaxRoundsSeries = 6;
  constexpr uint16_t kChartColumn = 14;
  const PlainTable plain = PlainOf(table);
  const auto last_row = static_cast<uint32_t>(titles_row + plain.rows.size());
  for (const TableUnit unit : {TableUnit::kBytesPerSecond, TableUnit::kOpsPerSecond}) {
    lxw_chart* chart = nullptr;
    size_t series_count = 0;
    for (size_t i = 0; i < plain.columns.size() && series_count < kMaxRoundsSeries; ++i) {
      if (plain.columns[i].unit != unit) continue;
      if (chart == nullptr) chart = workbook_add_chart(book.workbook(), LXW_CHART_LINE);
      const auto column = static_cast<uint16_t>(i);
      lxw_chart_series* series = chart_add_series(chart, nullptr, nullptr);
      chart_series_set_categories(series, sheet.name().c_str(), titles_row + 1, 0, last_row, 0);
      chart_series_set_values(series, sheet.name().c_str(), titles_row + 1, column, last_row, column);
      chart_series_set_name_range(series, sheet.name().c_str(), titles_row, column);
      ++series_count;
    }
    if (chart == nullptr) continue;
    chart_title_set_name(chart, "throughput of each round");
    chart_axis_set_name(chart->x_axis, "round");
    chart_axis_set_name(chart->y_axis, unit == TableUnit::kOpsPerSecond ? "ops/s" : kMebibytesPerSecond);
    chart_axis_set_min(chart->y_axis, 0);
    chart_legend_set_position(chart, LXW_CHART_LEGEND_BOTTOM);
    lxw_chart_options place{};
    place.x_scale = 1.6;
    worksheet_insert_chart_opt(sheet.worksheet(), unit == TableUnit::kOpsPerSecond ? 18 : 1, kChartColumn,
                               chart, &place);
  }
}

void PrintNotes(const Table& table, Sheet& sheet) {
  for (const TablePart& part : table.parts) {
    for (const TableNote& note : part.notes) {
      if (note.console_only) continue;
      sheet.Fact(part.name.empty() ? note.label : absl::StrCat(part.name, ": ", note.label), note.text);
    }
  }
}

}  // namespace

void PrintTable(const Table& table, const Book& book, Sheet& sheet, Headed headed, int most_rows) {
  const PlainTable plain = PlainOf(table);
  const uint32_t titles_row = sheet.row();
  SetTitleHeight(sheet);
  uint16_t at = 0;
  for (const PlainColumn& column : plain.columns) sheet.Text(at++, TitleOf(column), book.formats().header);
  sheet.NextRow();
  if (headed == Headed::kYes) sheet.FreezeAbove();
  const size_t count = std::min(plain.rows.size(), static_cast<size_t>(most_rows));
  for (size_t i = 0; i < count; ++i) {
    for (at = 0; at < plain.columns.size(); ++at) PrintCell(plain.columns[at], plain.rows[i][at], at, sheet);
    sheet.NextRow();
  }
  sheet.AddFilter(titles_row, plain.columns.size());
  if (count < plain.rows.size())
    sheet.Note(absl::StrCat("Only the first ", count, " of ", plain.rows.size(), " rows are listed."));
}

void SetTableWidths(size_t columns, const Sheet& sheet) {
  worksheet_set_column(sheet.worksheet(), 0, 0, 24, nullptr);
  worksheet_set_column(sheet.worksheet(), 1, static_cast<uint16_t>(columns), 16, nullptr);
}

void AddTableSheets(const v1::RunReport& report, Book& book) {
  const std::vector<NamedTable> tables = TablesOf(report, "workbook");
  for (size_t i = 0; i < tables.size();) {
    const std::string chapter = tables[i].source->chapter;
    size_t end = i, columns = 0;
    for (; end < tables.size() && tables[end].source->chapter == chapter; ++end)
      columns = std::max(columns, PlainOf(tables[end].table).columns.size());
    const bool alone = end == i + 1;
    Sheet sheet(book, book.NextName(alone ? tables[i].source->id : absl::AsciiStrToLower(chapter)));
    SetTableWidths(columns, sheet);
    sheet.Title(chapter);
    for (; i < end; ++i) {
      const auto& [source, table] = tables[i];
      if (*source->intro != '\0') sheet.Note(source->intro);
      const uint32_t titles_row = sheet.row();
      PrintTable(table, book, sheet, alone ? Headed::kYes : Headed::kNo);
      if (source->of_run == TableSourceNamed("soak-rounds").of_run)
        AddRoundsChart(table, titles_row, book, sheet);
      PrintNotes(table, sheet);
      sheet.NextRow();
    }
  }
}

}  // namespace iobench

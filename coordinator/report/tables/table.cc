#include "coordinator/report/tables/table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/text/number_words.h"
#include "common/text/units.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

const char* RateUnitName(bool in_ops) {
  return in_ops ? "ops/s" : "bytes/s";
}

std::string NumberText(const TableColumn& column, double value, bool in_ops) {
  switch (column.unit) {
    case TableUnit::kRate:
      return RateText(in_ops, value, value);
    case TableUnit::kBytesPerSecond:
      return RateText(false, value, value);
    case TableUnit::kBytes:
      return std::isfinite(value) ? FormatBytes(value) : "-";
    case TableUnit::kSeconds:
      return FormatSeconds(value);
    case TableUnit::kMicroseconds:
      return Microseconds(value);
    case TableUnit::kMilliseconds:
      return FormatSeconds(value * 1e-3);
    case TableUnit::kPercent:
      return Percent(value);
    case TableUnit::kShare:
      return Percent(100 * value);
    case TableUnit::kChange:
      return std::isfinite(value) ? absl::StrCat(value < 0 ? "" : "+", FormatSignificant(value, 3), " %") : "-";
    case TableUnit::kFactor:
      return std::isfinite(value) ? absl::StrCat(FormatSignificant(value, 3), "x") : "-";
    default:
      return FormatCount(value);
  }
}

}  // namespace

TableCell Rate(double rate, bool in_ops) {
  TableCell cell(rate);
  cell.in_ops = in_ops;
  return cell;
}

TableCell RateUnit(bool in_ops) {
  TableCell cell(RateUnitName(in_ops));
  cell.in_ops = in_ops;
  return cell;
}

TableCell RangeOf(double from, double to) {
  TableCell cell(from);
  cell.to = to;
  return cell;
}

TableCell RateRange(double from, double to, bool in_ops) {
  TableCell cell = RangeOf(from, to);
  cell.in_ops = in_ops;
  return cell;
}

TableCell Percentile(const v1::Latency& latency, std::string_view name, double us) {
  TableCell cell(latency.count() == 0 ? std::nan("") : us);
  cell.unsure = latency.count() > 0 && IsUnsure(latency, name);
  return cell;
}

bool HasContent(const TablePart& part, size_t column) {
  const auto has = [column](const TableRow& row) { return !row[column].empty(); };
  return std::any_of(part.rows.begin(), part.rows.end(), has) ||
         std::any_of(part.totals.begin(), part.totals.end(), has);
}

std::string CellText(const TableColumn& column, const TableCell& cell) {
  if (cell.is == TableCell::Is::kAbsent) return "";
  if (cell.is == TableCell::Is::kText) return cell.text;
  if (column.range) {
    if (!std::isfinite(cell.number) || !std::isfinite(cell.to)) return "-";
    return absl::StrCat(NumberText(column, cell.number, cell.in_ops), " to ",
                        NumberText(column, cell.to, cell.in_ops));
  }
  return absl::StrCat(cell.unsure ? "~" : "", NumberText(column, cell.number, cell.in_ops));
}

namespace {

// The names of the cells that are unsure: "p99 p99_9".
std::string UnsureCells(const Table& table, const TableRow& row) {
  std::string names;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i].unsure) continue;
    const std::string& id = table.columns[i].id;
    absl::StrAppend(&names, names.empty() ? "" : " ", absl::StripSuffix(id, "_us"));
  }
  return names;
}

TableCell UpperEnd(TableCell range) {
  range.number = range.to;
  return range;
}

bool HasUnsureCells(const Table& table) {
  const auto has = [&](const TableRow& row) { return !UnsureCells(table, row).empty(); };
  return std::any_of(table.parts.begin(), table.parts.end(), [&](const TablePart& part) {
    return std::any_of(part.rows.begin(), part.rows.end(), has) || std::any_of(part.totals.begin(), part.totals.end(), has);
  });
}

}  // namespace

PlainTable PlainOf(const Table& table) {
  const bool has_unsure = HasUnsureCells(table);
  PlainTable plain;
  if (!table.parts_are.empty()) plain.columns.push_back({table.parts_are, table.parts_are, TableUnit::kText});
  for (const TableColumn& column : table.columns) {
    if (column.readers == Readers::kPeople) continue;
    if (!column.range) {
      plain.columns.push_back({column.id, column.title, column.unit});
      continue;
    }
    plain.columns.push_back({column.id + "_low", column.title + ", low", column.unit});
    plain.columns.push_back({column.id + "_high", column.title + ", high", column.unit});
  }
  if (has_unsure) plain.columns.push_back({"unsure", "unsure", TableUnit::kText});
  for (const TablePart& part : table.parts) {
    for (const std::vector<TableRow>* const rows : {&part.rows, &part.totals}) {
      for (const TableRow& row : *rows) {
        TableRow& cells = plain.rows.emplace_back();
        if (!table.parts_are.empty()) cells.emplace_back(part.name);
        for (size_t i = 0; i < row.size(); ++i) {
          if (table.columns[i].readers == Readers::kPeople) continue;
          cells.push_back(row[i]);
          if (table.columns[i].range) cells.push_back(row[i].is == TableCell::Is::kNumber ? UpperEnd(row[i]) : row[i]);
        }
        if (has_unsure) cells.emplace_back(UnsureCells(table, row));
      }
    }
  }
  return plain;
}

std::string_view UnitSuffix(TableUnit unit) {
  switch (unit) {
    case TableUnit::kBytes:
      return " (bytes)";
    case TableUnit::kSeconds:
      return " (s)";
    case TableUnit::kMicroseconds:
      return " (us)";
    case TableUnit::kMilliseconds:
      return " (ms)";
    case TableUnit::kPercent:
    case TableUnit::kChange:
      return " (%)";
    default:
      return "";
  }
}

}  // namespace iobench

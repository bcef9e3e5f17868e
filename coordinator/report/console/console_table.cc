#include "coordinator/report/console/console_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/report/tables/table_list.h"
#include "coordinator/report/text/column_unit.h"

namespace iobench {
namespace {

constexpr size_t kMostRows = 40;
constexpr size_t kRowsOfMany = 20;

Tone ToneOf(TableNote::Tone tone) {
  switch (tone) {
    case TableNote::Tone::kPlain:
      return Tone::kPlain;
    case TableNote::Tone::kQuiet:
      return Tone::kQuiet;
    case TableNote::Tone::kWarning:
      return Tone::kWarning;
    case TableNote::Tone::kError:
      return Tone::kError;
  }
  return Tone::kPlain;
}

// One part of a table, with one unit for all rates that share one.
class PartPrinter {
 public:
  PartPrinter(const Table& table, const TablePart& part, ConsolePage& page)
      : table_(table), part_(part), page_(page), unit_(ColumnUnit::OfBytesPerSecond(SharedRates())) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const TableColumn& column = table.columns[i];
      if (column.readers != Readers::kAll && column.readers != Readers::kPeople) continue;
      if (i > 0 && !HasContent(part, i)) continue;
      shown_.push_back(i);
      names_units_ = names_units_ || column.unit == TableUnit::kRateUnit;
    }
  }

  void Print() {
    const std::vector<const TableRow*> rows = Rows();
    if (!part_.rows.empty()) {
      TextTable text(Columns());
      for (const TableRow* const row : rows) text.AddRow(Cells(*row));
      for (const TableRow& row : part_.totals) text.AddRow(Cells(row));
      page_.Table(text);
    }
    if (rows.size() < part_.rows.size()) {
      page_.Labelled("", absl::StrCat("the slowest ", rows.size(), " of ", part_.rows.size(), " clients"), Tone::kQuiet);
    }
    for (const TableNote& note : part_.notes)
      page_.Labelled(Printable(note.label), Printable(note.text), ToneOf(note.tone));
  }

 private:
  std::vector<double> SharedRates() {
    std::vector<double> rates;
    for (const std::vector<TableRow>* const rows : {&part_.rows, &part_.totals}) {
      for (const TableRow& row : *rows) {
        for (size_t i = 0; i < row.size(); ++i) {
          if (table_.columns[i].choice == UnitChoice::kPerCell || row[i].is != TableCell::Is::kNumber) continue;
          (row[i].in_ops ? has_ops_ : has_bytes_) = true;
          if (table_.columns[i].choice != UnitChoice::kShared || row[i].in_ops) continue;
          rates.push_back(row[i].number);
          if (table_.columns[i].range) rates.push_back(row[i].to);
        }
      }
    }
    return rates;
  }

  // Without those that there is no room for: the slowest stay.
  std::vector<const TableRow*> Rows() const {
    std::vector<const TableRow*> rows;
    for (const TableRow& row : part_.rows) rows.push_back(&row);
    if (table_.slowest_by < 0 || rows.size() <= kMostRows) return rows;
    const auto rate = [&](const TableRow* row) {
      const double value = (*row)[static_cast<size_t>(table_.slowest_by)].number;
      return std::isnan(value) ? -1 : value;  // a client without a figure comes first
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return rate(a) < rate(b); });
    rows.resize(kRowsOfMany);
    return rows;
  }

  std::vector<TextTable::Column> Columns() const {
    std::vector<TextTable::Column> columns;
    for (const size_t i : shown_) {
      const TableColumn& column = table_.columns[i];
      std::string title = column.console_title.empty() ? column.title : column.console_title;
      if (i == 0 && !table_.parts_are.empty() && !table_.joined) title = Printable(part_.name);
      if (column.choice != UnitChoice::kPerCell && !names_units_)
        absl::StrAppend(&title, " ", has_ops_ && !has_bytes_ ? "ops/s" : std::string(unit_.name()));
      columns.push_back({std::move(title), column.left ? TextTable::Align::kLeft : TextTable::Align::kRight,
                         column.if_room, i == 0 && !column.cut_middle});
    }
    return columns;
  }

  std::string SharedText(double rate, bool in_ops) const { return in_ops ? FormatCount(rate) : unit_.Text(rate); }

  std::string Text(const TableColumn& column, const TableCell& cell) const {
    if (column.unit == TableUnit::kRateUnit && !cell.in_ops) return std::string(unit_.name());
    if (cell.is != TableCell::Is::kNumber) return Printable(cell.text);
    if (column.choice != UnitChoice::kPerCell) {
      const std::string from = SharedText(cell.number, cell.in_ops);
      return column.range ? absl::StrCat(from, " to ", SharedText(cell.to, cell.in_ops)) : from;
    }
    if (column.whole && std::isfinite(cell.number)) return absl::StrCat(std::llround(100 * cell.number), " %");
    return CellText(column, cell);
  }

  std::vector<std::string> Cells(const TableRow& row) const {
    std::vector<std::string> cells;
    for (const size_t i : shown_) cells.push_back(Text(table_.columns[i], row[i]));
    return cells;
  }

  const Table& table_;
  const TablePart& part_;
  ConsolePage& page_;
  bool has_ops_ = false, has_bytes_ = false;
  const ColumnUnit unit_;
  std::vector<size_t> shown_;
  bool names_units_ = false;
};

void PrintWithHeading(const TableSource& source, const v1::RunReport& report, std::string& heading, ConsolePage& page) {
  const Table table = TableOf(source, report);
  if (table.empty()) return;
  if (heading != source.console_heading) {
    heading = source.console_heading;
    const Tone tone = table.headline.tone == TableNote::Tone::kError ? Tone::kError : Tone::kStrong;
    if (!heading.empty()) page.Line({{heading, Tone::kStrong}, {table.headline.text, tone}});
  }
  for (const TablePart& part : table.parts) {
    PartPrinter(table, part, page).Print();
    page.Blank();
  }
}

}  // namespace

void PrintTableOfPhase(std::string_view id, const v1::RunReport& report, const v1::PhaseReport& phase, ConsolePage& page) {
  const Table table = TableSourceNamed(id).of_phase(report, phase);
  for (const TablePart& part : table.parts) PartPrinter(table, part, page).Print();
}

void PrintTableOfRun(std::string_view id, const v1::RunReport& report, ConsolePage& page) {
  const Table table = TableSourceNamed(id).of_run(report);
  for (const TablePart& part : table.parts) PartPrinter(table, part, page).Print();
}

void PrintTablesOfRun(const v1::RunReport& report, ConsolePage& page) {
  constexpr std::string_view kLast = "criteria";
  std::string heading;
  for (const TableSource& source : TableSources()) {
    if (source.console_heading == nullptr || source.id == kLast) continue;
    PrintWithHeading(source, report, heading, page);
  }
  PrintWithHeading(TableSourceNamed(kLast), report, heading, page);
}

}  // namespace iobench

// What a group of the report holds, as a table that every format draws: columns, cells, units and notes.
#ifndef COORDINATOR_REPORT_TABLES_TABLE_H_
#define COORDINATOR_REPORT_TABLES_TABLE_H_

#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// What the cells of a column are. People read them in the unit that fits; machines get the plain number.
enum class TableUnit {
  kText,
  kRateUnit,        // "bytes/s" or "ops/s": the unit of the row's rates. People read it in other columns' cells or titles
  kRate,            // bytes/s or ops/s: the cell says which
  kBytesPerSecond,
  kOpsPerSecond,
  kCount,
  kBytes,
  kSeconds,
  kMicroseconds,
  kMilliseconds,
  kPercent,         // 50: 50 %
  kChange,          // 50: +50 %
  kShare,           // 0.5: 50 %
  kFactor,          // 2: 2x
  kNumber,
  kTime,            // a text: ISO 8601, UTC
};

struct TableCell {
  enum class Is { kAbsent, kText, kNumber };  // absent: there is nothing to know

  Is is = Is::kAbsent;
  std::string text;  // as it came: not printable yet
  double number = 0; // not finite: unknown
  double to = 0;     // of a column of ranges: from `number` to this
  bool in_ops = false;  // kRate, kRateUnit
  bool unsure = false;  // "~"
  bool strong = false;  // what a reader should see first

  TableCell() = default;
  TableCell(std::string value) : is(Is::kText), text(std::move(value)) {}
  TableCell(const char* value) : TableCell(std::string(value)) {}
  template <typename Number>
    requires std::integral<Number> || std::floating_point<Number>
  TableCell(Number value) : is(Is::kNumber), number(static_cast<double>(value)) {}

  TableCell Strong(bool is_strong = true) && {
    strong = is_strong;
    return std::move(*this);
  }
  bool empty() const { return is == Is::kAbsent || (is == Is::kText && text.empty()); }
};

TableCell Rate(double rate, bool in_ops);
TableCell RateUnit(bool in_ops);
TableCell RangeOf(double from, double to);
TableCell RateRange(double from, double to, bool in_ops);
// `name`: as in Latency.unsure, "p99". Unknown if nothing was measured.
TableCell Percentile(const v1::Latency& latency, std::string_view name, double us);
// A cell with the number, or without anything if the condition does not hold.
template <typename Value>
TableCell CellIf(bool is_there, Value value) {
  return is_there ? TableCell(std::move(value)) : TableCell();
}

// On the console: how the unit of a rate is chosen.
enum class UnitChoice {
  kPerCell,  // each cell names its own
  kShared,   // all such columns of a part have one, which their cells decide
  kFollows,  // the same, but its cells have no say
};

// Who sees a column. People: console, Markdown, page; machines: CSV, workbook.
enum class Readers { kAll, kNotConsole, kNotDocuments /* page and machines */, kMachines, kPeople };

struct TableColumn {
  std::string id;  // for machines: stable, with the unit
  std::string title;
  std::string console_title = {};  // empty: `title`
  TableUnit unit = TableUnit::kText;
  bool left = false;            // aligned
  bool range = false;           // cells have two numbers; machines see ID_low and ID_high
  bool if_room = false;         // the console may drop it
  bool cut_middle = false;      // of the first column: in narrow tables, the middle of names is cut, not their end
  bool whole = false;           // kShare: the console shows no decimals
  UnitChoice choice = UnitChoice::kPerCell;
  Readers readers = Readers::kAll;
};

inline TableColumn ColumnOf(const char* id, const char* title, TableUnit unit = TableUnit::kText) {
  return {.id = id, .title = title, .unit = unit};
}
inline TableColumn LeftColumn(const char* id, const char* title) {
  return {.id = id, .title = title, .left = true};
}

struct TableNote {
  enum class Tone { kPlain, kQuiet, kWarning, kError };
  std::string label, text;  // as they came: not printable yet
  Tone tone = Tone::kQuiet;
  bool console_only = false;  // other formats have it in a column
};

using TableRow = std::vector<TableCell>;

struct TablePart {
  std::string name;  // of what the rows belong to; empty if the table has only one part
  std::vector<TableRow> rows;
  std::vector<TableRow> totals = {};  // follow the rows
  std::vector<TableNote> notes = {};
  int phase = -1;  // the position in the report of the phase that it is of; -1: of the run
};

struct Table {
  std::vector<TableColumn> columns;  // a row has a cell for each
  std::vector<TablePart> parts;
  // What distinguishes the parts: "phase". Empty: there is one part at most. People see a table for each part, unless
  // they are joined; machines see one table with this as its first column.
  std::string parts_are = {};
  bool joined = false;
  TableNote headline = {};  // beside the heading on the console
  int slowest_by = -1;  // of more than 40 rows, the console shows the 20 with the lowest values in this column

  bool empty() const { return parts.empty(); }
};

// Whether a column has any content. Documents leave out columns that have none.
bool HasContent(const TablePart& part, size_t column);

// The cell as people read it, with its unit, such as "912 MiB/s", "~1.2 ms" or "-"; text as it came.
std::string CellText(const TableColumn& column, const TableCell& cell);

// Titles and cells for machines: parts joined, ranges as two columns, exact numbers, and a last column `unsure` that names
// the columns of a row that are (without "_us"), if there are any. A cell is a text, a number, or
// empty: there is nothing, or it is unknown.
struct PlainColumn {
  std::string id, title;
  TableUnit unit;
};
struct PlainTable {
  std::vector<PlainColumn> columns;
  std::vector<TableRow> rows;
};
PlainTable PlainOf(const Table& table);
// "(bytes)", "(s)" …: what a title of PlainTable lacks; empty: it says so itself.
std::string_view UnitSuffix(TableUnit unit);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TABLES_TABLE_H_

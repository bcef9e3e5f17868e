// A workbook in the making, and a sheet that is filled from top to bottom.
#ifndef COORDINATOR_REPORT_WORKBOOK_BOOK_H_
#define COORDINATOR_REPORT_WORKBOOK_BOOK_H_

#include <xlsxwriter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/report/workbook/sheet_names.h"
#include "coordinator/report/workbook/surface_chart.h"

namespace iobench {

// Formats that all sheets share; owned by the workbook.
struct BookFormats {
  lxw_format* title;
  lxw_format* header;   // of a table's column, wrapped
  lxw_format* text;     // set off from a number to its left
  lxw_format* whole;    // 1,234
  lxw_format* decimal;  // up to three digits after the point
  lxw_format* marked;   // a cell whose phase has marks
  lxw_format* note;
  lxw_format* time;     // 2026-11-22 07:01:53
};

// Borrows the workbook. Not thread-safe.
class Book {
 public:
  explicit Book(lxw_workbook* workbook);

  lxw_workbook* workbook() const { return workbook_; }
  const BookFormats& formats() const { return formats_; }
  // Takes a name for the next sheet (sheet_names.h).
  std::string NextName(std::string_view wanted) { return names_.Next(wanted); }

  // Adds the chart that will replace an area chart of a sheet; the workbook has no other area charts.
  void AddSurfaceChart(SurfaceChart chart) { surface_charts_.push_back(std::move(chart)); }
  const std::vector<SurfaceChart>& surface_charts() const { return surface_charts_; }

 private:
  lxw_workbook* workbook_;
  BookFormats formats_;
  SheetNames names_;
  std::vector<SurfaceChart> surface_charts_;
};

// A sheet with a current row. Texts are made printable and never become formulas.
class Sheet {
 public:
  // Adds a sheet. REQUIRES: `name` is from book.NextName.
  Sheet(Book& book, const std::string& name);

  const std::string& name() const { return name_; }
  lxw_worksheet* worksheet() const { return worksheet_; }
  uint32_t row() const { return row_; }
  void NextRow(uint32_t rows = 1) { row_ += rows; }

  // Fill a cell of the current row. Put leaves the cell empty if the number is not finite.
  void Text(uint16_t column, std::string_view text, lxw_format* format = nullptr);
  void Put(uint16_t column, double value, lxw_format* format);
  void Whole(uint16_t column, double value) { Put(column, value, book_.formats().whole); }
  // Shows as many digits as a reader needs: 1,234,568, 12.346, 0.0000123.
  void Decimal(uint16_t column, double value);
  // A date with its time in UTC; `iso8601` as text if it is none.
  void Time(uint16_t column, std::string_view iso8601);

  // Fill the whole row and go to the next.
  void Title(std::string_view text);
  void Note(std::string_view text);
  void Fact(std::string_view name, std::string_view text);
  // `unit` follows the number in a cell of its own.
  void Fact(std::string_view name, double value, std::string_view unit);
  void TimeFact(std::string_view name, std::string_view iso8601);

  // Keeps the rows above the current one in view.
  void FreezeAbove();
  // Lets readers filter the rows below `titles_row`, up to the one above the current; only the first call on a sheet counts.
  void AddFilter(uint32_t titles_row, size_t columns);

 private:
  Book& book_;
  std::string name_;
  lxw_worksheet* worksheet_;
  uint32_t row_ = 0;
  bool has_filter_ = false;
};

// Rates of data, as a workbook shows them.
inline constexpr char kMebibytesPerSecond[] = "MiB/s";
inline constexpr double kBytesPerMebibyte = 1024.0 * 1024.0;

// Makes the current row high enough for titles of two lines.
void SetTitleHeight(const Sheet& sheet);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_WORKBOOK_BOOK_H_

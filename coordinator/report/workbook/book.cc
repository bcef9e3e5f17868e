#include "coordinator/report/workbook/book.h"

#include <cmath>

#include "common/text/display_text.h"
#include "coordinator/report/text/wall_time.h"

namespace iobench {
namespace {

constexpr size_t kMaxCellBytes = 32767;  // Excel's limit, in characters

lxw_format* NewFormat(lxw_workbook* workbook, const char* number_format) {
  lxw_format* format = workbook_add_format(workbook);
  if (number_format != nullptr) format_set_num_format(format, number_format);
  return format;
}

}  // namespace

Book::Book(lxw_workbook* workbook) : workbook_(workbook) {
  formats_.title = NewFormat(workbook, nullptr);
  format_set_bold(formats_.title);
  format_set_font_size(formats_.title, 14);
  formats_.header = NewFormat(workbook, nullptr);
  format_set_bold(formats_.header);
  format_set_text_wrap(formats_.header);
  format_set_align(formats_.header, LXW_ALIGN_VERTICAL_TOP);
  format_set_align(formats_.header, LXW_ALIGN_CENTER);
  format_set_bottom(formats_.header, LXW_BORDER_THIN);
  formats_.text = NewFormat(workbook, nullptr);
  format_set_indent(formats_.text, 1);
  formats_.whole = NewFormat(workbook, "#,##0");
  formats_.decimal = NewFormat(workbook, "#,##0.###");
  formats_.marked = NewFormat(workbook, "#,##0");
  format_set_italic(formats_.marked);
  format_set_bottom(formats_.marked, LXW_BORDER_DOTTED);
  formats_.note = NewFormat(workbook, nullptr);
  format_set_italic(formats_.note);
  formats_.time = NewFormat(workbook, "yyyy-mm-dd hh:mm:ss");
  format_set_align(formats_.time, LXW_ALIGN_LEFT);
}

Sheet::Sheet(Book& book, const std::string& name)
    : book_(book), name_(name), worksheet_(workbook_add_worksheet(book.workbook(), name.c_str())) {
  // Printed: one page wide, as many pages long as it takes.
  worksheet_set_landscape(worksheet_);
  worksheet_fit_to_pages(worksheet_, 1, 0);
}

void Sheet::Text(uint16_t column, std::string_view text, lxw_format* format) {
  if (text.empty()) return;
  std::string cell = Printable(text);
  if (format == nullptr && column > 0) format = book_.formats().text;
  if (cell.size() > kMaxCellBytes) cell = CutAtEnd(cell, kMaxCellBytes / 4);
  worksheet_write_string(worksheet_, row_, column, cell.c_str(), format);
}

void Sheet::Put(uint16_t column, double value, lxw_format* format) {
  if (std::isfinite(value)) worksheet_write_number(worksheet_, row_, column, value, format);
}

void Sheet::Decimal(uint16_t column, double value) {
  const double magnitude = std::fabs(value);
  const BookFormats& formats = book_.formats();
  const bool whole = magnitude >= 1e4 || std::floor(value) == value;
  Put(column, value, whole ? formats.whole : magnitude >= 0.1 ? formats.decimal : nullptr);
}

void Sheet::Time(uint16_t column, std::string_view iso8601) {
  constexpr double kMsPerDay = 86'400'000, kDaysTo1970 = 25'569;  // of a spreadsheet's calendar
  const int64_t ms = EpochMsOf(std::string(iso8601));
  if (ms == 0) return Text(column, iso8601);
  Put(column, kDaysTo1970 + static_cast<double>(ms) / kMsPerDay, book_.formats().time);
}

void Sheet::Title(std::string_view text) {
  Text(0, text, book_.formats().title);
  NextRow();
}

void Sheet::Note(std::string_view text) {
  Text(0, text, book_.formats().note);
  NextRow();
}

void Sheet::Fact(std::string_view name, std::string_view text) {
  if (text.empty()) return;
  Text(0, name);
  Text(1, text);
  NextRow();
}

void Sheet::Fact(std::string_view name, double value, std::string_view unit) {
  if (!std::isfinite(value)) return;
  Text(0, name);
  Decimal(1, value);
  Text(2, unit);
  NextRow();
}

void Sheet::TimeFact(std::string_view name, std::string_view iso8601) {
  if (iso8601.empty()) return;
  Text(0, name);
  Time(1, iso8601);
  NextRow();
}

void Sheet::FreezeAbove() {
  worksheet_freeze_panes(worksheet_, row_, 1);
}

void Sheet::AddFilter(uint32_t titles_row, size_t columns) {
  if (has_filter_ || columns == 0 || row_ <= titles_row + 1) return;
  has_filter_ = true;
  worksheet_autofilter(worksheet_, titles_row, 0, row_ - 1, static_cast<uint16_t>(columns - 1));
}

void SetTitleHeight(const Sheet& sheet) {
  constexpr double kTwoLines = 32;  // in points
  worksheet_set_row(sheet.worksheet(), sheet.row(), kTwoLines, nullptr);
}

}  // namespace iobench

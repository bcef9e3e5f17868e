// A plain-text table: each column is as wide as its widest cell, names are left-aligned, figures right-aligned.
#ifndef COORDINATOR_REPORT_TEXT_TEXT_TABLE_H_
#define COORDINATOR_REPORT_TEXT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace iobench {

// Widths are in columns of a terminal, in which a character may take none, one or two (display_text.h).
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
    // The column may be dropped from tables that are too wide.
    bool optional = false;
    // First column only: optional columns are dropped before it is shortened, and then its end is cut instead of its
    // middle.
    bool keeps_beginning = false;
  };

  // REQUIRES: at least one column.
  explicit TextTable(std::vector<Column> columns);

  // REQUIRES: one cell per column; printable text (display_text.h) without escape sequences.
  void AddRow(std::vector<std::string> cells);

  // Returns one line per row, starting with the titles if any column has one. Columns are two spaces apart; lines have
  // no trailing spaces. If a row is wider than `width_columns`, the last column is wrapped if it is left-aligned, then
  // the first is shortened, then optional columns are dropped, starting with the last one, then other left-aligned
  // columns are wrapped. Columns for which there is no room even then follow below, with the first one again.
  std::vector<std::string> Lines(size_t width_columns) const;

 private:
  TextTable Without(size_t column) const;
  // The first column and those from `begin` to before `end`.
  TextTable Part(size_t begin, size_t end) const;
  // The number of columns from the beginning that fit; at least two.
  size_t FittingColumns(const std::vector<size_t>& widths, size_t width_columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_TEXT_TABLE_H_

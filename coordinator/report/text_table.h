// A table in plain text: columns as wide as their widest cell, names left, figures right.
#ifndef COORDINATOR_REPORT_TEXT_TABLE_H_
#define COORDINATOR_REPORT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace iobench {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
    bool optional = false;
    bool keeps_beginning =
        false;  // of the first column: optional ones go before it is cut, and then at its end
  };

  explicit TextTable(std::vector<Column> columns);

  // REQUIRES: one cell per column, printable text (display_text.h) without escape sequences.
  void AddRow(std::vector<std::string> cells);

  // One line a row, the titles first if any column has one; two spaces between columns, none at the end of a line.
  // Where a row would be wider than `width_columns`, the last column, if it is a left one, wraps under itself, then the
  // first is shortened; where that is not enough, optional columns are left out, the last one first.
  std::vector<std::string> Lines(size_t width_columns) const;

 private:
  TextTable Without(size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_TABLE_H_

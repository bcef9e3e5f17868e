// Text, code and tables in GitHub's flavour of Markdown (https://github.github.com/gfm/).
#ifndef COORDINATOR_REPORT_MARKDOWN_MARKDOWN_TEXT_H_
#define COORDINATOR_REPORT_MARKDOWN_MARKDOWN_TEXT_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// Makes any text appear as it is within a line or a cell: no emphasis, links, HTML, entities or further cells. Control
// characters become '?' (Printable).
std::string MarkdownText(std::string_view text);

// Returns a block of code that shows `text` as it is, whatever backticks it has. Control characters become '?', line
// breaks stay. Ends with a line break.
std::string CodeBlock(std::string_view text);

// A table with one line per row. Cells are Markdown: pass external names through MarkdownText.
class MarkdownTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit MarkdownTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell per column, without line breaks.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Writes the table, surrounded by empty lines. Columns without any content are left out; nothing without rows.
  void Write(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_MARKDOWN_MARKDOWN_TEXT_H_

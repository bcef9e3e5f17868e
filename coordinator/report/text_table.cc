#include "coordinator/report/text_table.h"

#include <algorithm>
#include <cassert>

#include "coordinator/report/display_text.h"

namespace iobench {
namespace {

constexpr size_t kGapColumns = 3;
constexpr size_t kLeastNameColumns = 8;

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  const bool has_titles = std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  if (!has_titles) return;
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  rows_.push_back(std::move(titles));
}

void TextTable::AddRow(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> TextTable::Lines(size_t width_columns) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayColumns(row[i]));
  }
  size_t others = kGapColumns * (columns_.size() - 1);
  for (size_t i = 1; i < widths.size(); ++i) others += widths[i];
  const size_t room = width_columns > others ? width_columns - others : 0;
  widths[0] = std::min(widths[0], std::max(room, kLeastNameColumns));

  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = i == 0 ? Shortened(row[i], widths[i]) : row[i];
      const std::string padding(widths[i] - std::min(widths[i], DisplayColumns(cell)), ' ');
      if (i > 0) line.append(kGapColumns, ' ');
      line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace iobench

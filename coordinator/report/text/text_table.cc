#include "coordinator/report/text/text_table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>

#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr size_t kGapColumns = 2;
constexpr size_t kMinFirstColumns = 12;
constexpr size_t kMinLastColumns = 16;  // the longest mark in a list: "generator_bound,"

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  const bool has_titles =
      std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  if (!has_titles) return;
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  rows_.push_back(std::move(titles));
}

void TextTable::AddRow(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

TextTable TextTable::Without(size_t column) const {
  TextTable rest = *this;
  const auto at = static_cast<std::ptrdiff_t>(column);
  rest.columns_.erase(rest.columns_.begin() + at);
  for (auto& row : rest.rows_) row.erase(row.begin() + at);
  return rest;
}

std::vector<std::string> TextTable::Lines(size_t width_columns) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayColumns(row[i]));
  }
  const size_t gaps = kGapColumns * (columns_.size() - 1);
  // Reduces one column by the row's excess width, as far as possible.
  const auto narrow = [&](size_t column, size_t least) {
    const size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
    if (total <= width_columns || widths[column] <= least) return;
    widths[column] -= std::min(total - width_columns, widths[column] - least);
  };
  if (columns_.back().align == Align::kLeft) narrow(widths.size() - 1, kMinLastColumns);
  if (!columns_[0].keeps_beginning) narrow(0, kMinFirstColumns);
  if (std::accumulate(widths.begin(), widths.end(), gaps) > width_columns) {
    const auto last =
        std::find_if(columns_.rbegin(), columns_.rend(), [](const Column& c) { return c.optional; });
    if (last != columns_.rend())
      return Without(static_cast<size_t>(columns_.rend() - last) - 1).Lines(width_columns);
    narrow(0, kMinFirstColumns);
  }

  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    const std::vector<std::string> last_cell = Wrapped(row.back(), widths.back());
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = i + 1 == row.size()           ? last_cell[0]
                               : i != 0                      ? row[i]
                               : columns_[0].keeps_beginning ? CutAtEnd(row[0], widths[0])
                                                             : Shortened(row[0], widths[0]);
      const std::string padding(widths[i] - std::min(widths[i], DisplayColumns(cell)), ' ');
      if (i > 0) line.append(kGapColumns, ' ');
      line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
    }
    const size_t last_column = DisplayColumns(line) - widths.back();
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
    for (size_t i = 1; i < last_cell.size(); ++i)
      lines.push_back(std::string(last_column, ' ') + last_cell[i]);
  }
  return lines;
}

}  // namespace iobench

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
constexpr size_t kMinWrappedColumns = 16;  // the longest mark in a list: "generator_bound,"

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

TextTable TextTable::Part(size_t begin, size_t end) const {
  TextTable part = *this;
  const auto cut = [&](auto& cells) {
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(end), cells.end());
    cells.erase(cells.begin() + 1, cells.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  cut(part.columns_);
  for (auto& row : part.rows_) cut(row);
  return part;
}

size_t TextTable::FittingColumns(const std::vector<size_t>& widths, size_t width_columns) const {
  size_t used = widths[0], count = 1;
  while (count < widths.size() && (count == 1 || used + kGapColumns + widths[count] <= width_columns)) {
    used += kGapColumns + widths[count++];
  }
  return count;
}

std::vector<std::string> TextTable::Lines(size_t width_columns) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayColumns(row[i]));
  }
  const size_t gaps = kGapColumns * (columns_.size() - 1);
  const auto is_too_wide = [&] { return std::accumulate(widths.begin(), widths.end(), gaps) > width_columns; };
  // Reduces one column by the row's excess width, as far as possible.
  const auto narrow = [&](size_t column, size_t least) {
    const size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
    if (total <= width_columns || widths[column] <= least) return;
    widths[column] -= std::min(total - width_columns, widths[column] - least);
  };
  const auto wrap = [&](size_t column) {
    if (columns_[column].align == Align::kLeft) narrow(column, kMinWrappedColumns);
  };
  if (columns_.size() > 1) wrap(columns_.size() - 1);
  const bool may_shorten = columns_[0].align == Align::kLeft;  // of a figure, no digit may be missing
  if (may_shorten && !columns_[0].keeps_beginning) narrow(0, kMinFirstColumns);
  if (is_too_wide()) {
    const auto last =
        std::find_if(columns_.rbegin(), columns_.rend(), [](const Column& c) { return c.optional; });
    if (last != columns_.rend())
      return Without(static_cast<size_t>(columns_.rend() - last) - 1).Lines(width_columns);
    if (may_shorten) narrow(0, kMinFirstColumns);
    for (size_t column = columns_.size() - 1; column > 0; --column) wrap(column);
  }
  if (is_too_wide() && columns_.size() > 2) {
    const size_t count = FittingColumns(widths, width_columns);
    if (count < columns_.size()) {
      std::vector<std::string> lines = Part(1, count).Lines(width_columns);
      for (std::string& line : Part(count, columns_.size()).Lines(width_columns)) lines.push_back(std::move(line));
      return lines;
    }
  }

  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells;  // in lines
    size_t height = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == 0) {
        cells.push_back({columns_[0].keeps_beginning ? CutAtEnd(row[0], widths[0]) : Shortened(row[0], widths[0])});
      } else {
        cells.push_back(Wrapped(row[i], widths[i]));
      }
      height = std::max(height, cells.back().size());
    }
    for (size_t below = 0; below < height; ++below) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string cell = below < cells[i].size() ? cells[i][below] : "";
        const std::string padding(widths[i] - std::min(widths[i], DisplayColumns(cell)), ' ');
        if (i > 0) line.append(kGapColumns, ' ');
        line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace iobench

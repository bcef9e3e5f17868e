#include "common/text/near_names.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// Counts insertions and deletions. A replaced letter counts as both; otherwise "rnd-read" would be as near to reread as
// to random-read, of which it is an abbreviation.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 2);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NamesNear(std::string_view typed, std::span<const std::string_view> names) {
  const std::string lower = absl::AsciiStrToLower(std::string(typed));
  size_t smallest = lower.size() / 2;
  std::vector<std::string> near;
  for (const std::string_view name : names) {
    const size_t distance = EditDistance(lower, name);
    if (distance > smallest) continue;
    if (distance < smallest) near.clear();
    smallest = distance;
    near.emplace_back(name);
  }
  return near;
}

std::string DidYouMean(std::string_view typed, std::span<const std::string_view> names,
                       std::string_view prefix) {
  std::string text;
  for (const std::string& name : NamesNear(typed, names)) {
    absl::StrAppend(&text, text.empty() ? "; did you mean " : " or ", std::string(prefix), name);
  }
  if (!text.empty()) text += '?';
  return text;
}

}  // namespace iobench

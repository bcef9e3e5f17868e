#include "coordinator/report/markdown/markdown_text.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/display_text.h"

namespace iobench {

std::string MarkdownText(std::string_view text) {
  // Any ASCII punctuation may be escaped. A colon or a dot only where GitHub would make a link of what it sees:
  // "https://", "www.".
  constexpr std::string_view kSpecial = "\\`*_{}[]()<>#|~&!$";
  const std::string plain = Printable(text);
  std::string result;
  for (size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    const bool links = rest.starts_with("://") || (rest[0] == '.' && result.ends_with("www"));
    if (kSpecial.find(rest[0]) != std::string_view::npos || links) result += '\\';
    result += rest[0];
  }
  return result;
}

std::string CodeBlock(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  std::string result = absl::StrCat(fence, "text\n");
  for (const auto& line : absl::StrSplit(std::string(text), '\n')) {
    absl::StrAppend(&result, Printable(std::string_view(line.data(), line.size())), "\n");
  }
  return absl::StrCat(result, fence, "\n");
}

void MarkdownTable::Write(std::ostream& out) const {
  if (rows_.empty()) return;
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool any =
        std::any_of(rows_.begin(), rows_.end(), [i](const auto& row) { return !row[i].empty(); });
    if (any) shown.push_back(i);
  }
  out << "\n|";
  for (const size_t i : shown) out << ' ' << columns_[i].title << " |";
  out << "\n|";
  for (const size_t i : shown) out << (columns_[i].align == Align::kLeft ? " :-- |" : " --: |");
  out << '\n';
  for (const std::vector<std::string>& row : rows_) {
    assert(row.size() == columns_.size());
    out << '|';
    for (const size_t i : shown) out << ' ' << row[i] << " |";
    out << '\n';
  }
  out << '\n';
}

}  // namespace iobench

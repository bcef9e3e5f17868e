#include "coordinator/report/workbook/sheet_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr size_t kMaxUnits = 31;

bool Continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// At most `units` UTF-16 code units, which is what Excel counts. REQUIRES: `text` is UTF-8.
std::string CutAt(std::string_view text, size_t units) {
  size_t used = 0, end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && Continues(text[next])) ++next;
    used += next - end == 4 ? 2 : 1;
    if (used > units) break;
    end = next;
  }
  return std::string(text.substr(0, end));
}

}  // namespace

std::string SheetNames::Next(std::string_view wanted) {
  std::string base = Printable(wanted);
  std::replace_if(
      base.begin(), base.end(),
      [](char c) { return std::string_view("[]:*?/\\'").find(c) != std::string_view::npos; }, '_');
  if (absl::StripAsciiWhitespace(base).empty()) base = "sheet";
  if (absl::AsciiStrToLower(base) == "history") base += '_';  // Excel's own
  std::string name = CutAt(base, kMaxUnits);
  for (int number = 2; !taken_.insert(absl::AsciiStrToLower(name)).second; ++number) {
    const std::string suffix = absl::StrCat(" (", number, ")");
    name = CutAt(base, kMaxUnits - suffix.size()) + suffix;
  }
  return name;
}

}  // namespace iobench

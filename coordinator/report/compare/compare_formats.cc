#include "coordinator/report/compare/compare_formats.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/options/format_names.h"
#include "coordinator/report/json_text.h"

namespace iobench {
namespace {

template <typename Report>
absl::Status WriteJson(const Report& report, const ConsoleStyle&, std::ostream& out) {
  return WriteJsonText(report, out);
}

constexpr CompareFormat kFormats[] = {
    {"text", WriteComparisonText, WriteHistoryText},
    {"json", WriteJson<v1::CompareReport>, WriteJson<v1::HistoryReport>},
    {"junit", WriteComparisonJunit, WriteHistoryJunit},
    {"markdown", WriteComparisonMarkdown, WriteHistoryMarkdown},
    {"html", WriteComparisonPage, WriteHistoryPage, CompareFormat::Content::kBinary},
};

constexpr bool NamesAreComplete() {
  if (std::size(kCompareFormatNames) != std::size(kFormats)) return false;
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (kCompareFormatNames[i] != std::string_view(kFormats[i].name)) return false;
  }
  return true;
}
static_assert(NamesAreComplete(),
              "list the format in coordinator/options/format_names.h too, in the same order");

}  // namespace

std::span<const CompareFormat> CompareFormats() {
  return kFormats;
}

absl::StatusOr<const CompareFormat*> CompareFormatNamed(std::string_view name) {
  std::vector<std::string> names;
  for (const CompareFormat& format : kFormats) {
    if (name == format.name) return &format;
    names.push_back(format.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("comparisons have no format \"", std::string(name),
                                                 "\": use ", absl::StrJoin(names, ", ")));
}

}  // namespace iobench

#include "coordinator/report/capacity/capacity_formats.h"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "coordinator/options/format_names.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/json_text.h"
#include "coordinator/report/page/page_data.h"
#include "coordinator/report/page/page_writer.h"

namespace iobench {
namespace {

// One report is an object; several are an array of them.
absl::StatusOr<std::string> JsonOf(std::span<const v1::CapacityReport> reports, bool always_array) {
  std::vector<std::string> texts;
  for (const v1::CapacityReport& report : reports) {
    std::ostringstream text;
    IOBENCH_RETURN_IF_ERROR(WriteJsonText(report, text));
    texts.push_back(text.str());
  }
  return texts.size() == 1 && !always_array ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ","), "]\n");
}

absl::Status WriteCapacityJson(std::span<const v1::CapacityReport> reports, const ConsoleStyle&,
                               std::ostream& out) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, JsonOf(reports, /*always_array=*/false));
  out << text;
  return Flush(out, "json");
}

// web/src/capacity.js reads it.
absl::Status WriteCapacityPage(std::span<const v1::CapacityReport> reports, const ConsoleStyle&,
                               std::ostream& out) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, JsonOf(reports, /*always_array=*/true));
  return WritePageOf(PackForPage(absl::StrCat("{\"capacity\":", text, "}"), ""), out);
}

constexpr CapacityFormat kFormatsOfCapacity[] = {
    {"text", "", WriteCapacityText},
    {"json", "capacity.json", WriteCapacityJson},
    {"html", kHasPage ? "report.html" : "", WriteCapacityPage, true, IsOurPage}};

constexpr bool CapacityNamesAreComplete() {
  if (std::size(kCapacityFormatNames) != std::size(kFormatsOfCapacity)) return false;
  for (size_t i = 0; i < std::size(kFormatsOfCapacity); ++i) {
    if (kCapacityFormatNames[i] != std::string_view(kFormatsOfCapacity[i].name)) return false;
  }
  return true;
}
static_assert(CapacityNamesAreComplete(),
              "list the format in coordinator/options/format_names.h too, in the same order");

}  // namespace

std::span<const CapacityFormat> CapacityFormats() {
  return kFormatsOfCapacity;
}

absl::StatusOr<const CapacityFormat*> CapacityFormatNamed(std::string_view name) {
  std::vector<std::string> names;
  for (const CapacityFormat& format : kFormatsOfCapacity) {
    if (name == format.name) return &format;
    names.push_back(format.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("capacity has no format \"", std::string(name), "\": use ", absl::StrJoin(names, ", ")));
}

}  // namespace iobench

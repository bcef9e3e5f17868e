#include "coordinator/report/validate/validate_formats.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/options/format_names.h"
#include "coordinator/report/json_text.h"

namespace iobench {
namespace {

absl::Status WriteValidateJson(const v1::ValidateReport& report, const ConsoleStyle&, std::ostream& out) {
  return WriteJsonText(report, out);
}

constexpr ValidateFormat kFormatsOfValidate[] = {
    {"text", WriteValidateText},
    {"json", WriteValidateJson},
    {"junit", WriteValidateJunit},
    {"html", WriteValidatePage, ValidateFormat::Content::kBinary},
};

constexpr bool ValidateNamesAreComplete() {
  if (std::size(kValidateFormatNames) != std::size(kFormatsOfValidate)) return false;
  for (size_t i = 0; i < std::size(kFormatsOfValidate); ++i) {
    if (kValidateFormatNames[i] != std::string_view(kFormatsOfValidate[i].name)) return false;
  }
  return true;
}
static_assert(ValidateNamesAreComplete(),
              "list the format in coordinator/options/format_names.h too, in the same order");

}  // namespace

std::span<const ValidateFormat> ValidateFormats() {
  return kFormatsOfValidate;
}

absl::StatusOr<const ValidateFormat*> ValidateFormatNamed(std::string_view name) {
  std::vector<std::string> names;
  for (const ValidateFormat& format : kFormatsOfValidate) {
    if (name == format.name) return &format;
    names.push_back(format.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("validations have no format \"", std::string(name),
                                                 "\": use ", absl::StrJoin(names, ", ")));
}

}  // namespace iobench

#include "coordinator/options/suite_files.h"

#include <cstdint>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"
#include "coordinator/options/shipped_files.h"

namespace iobench {
namespace {

constexpr char kOptionsKey[] = "options:";
constexpr uint64_t kLongestSuiteBytes = 1_MiB;

}  // namespace

absl::StatusOr<std::string> SuiteList() {
  return ShippedList(kSuiteFiles, "Suites: plans");
}

absl::StatusOr<std::vector<std::string>> SuiteOptions(const std::string& name) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string directory, ShippedDirectory(kSuiteFiles));
  const auto text = files::ReadWhole("suite", absl::StrCat(directory, "/", name, ".yaml"), kLongestSuiteBytes);
  if (absl::IsNotFound(text.status()))
    return std::vector<std::string>();  // LoadSuite lists the available ones
  if (!text.ok()) return text.status();
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (!absl::StartsWith(line, kOptionsKey)) continue;
    return absl::StrSplit(line.substr(std::size(kOptionsKey) - 1), ' ', absl::SkipEmpty());
  }
  return std::vector<std::string>();
}

absl::StatusOr<std::string> SuiteFile(const std::string& name) {
  return ShippedFile(kSuiteFiles, name);
}

}  // namespace iobench

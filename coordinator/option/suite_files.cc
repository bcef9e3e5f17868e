#include "coordinator/option/suite_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/text/near_names.h"
#include "common/text/units.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

constexpr char kExtension[] = ".yaml";
constexpr char kOptionsKey[] = "options:";
constexpr uint64_t kLongestSuiteBytes = 1_MiB;

// Returns the directory of an installed program (PREFIX/bin -> PREFIX/share/cluster-iobench/plans), otherwise the one
// in the source tree that it was built from.
absl::StatusOr<fs::path> PlanDirectory() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> candidates;
  if (!error)
    candidates.push_back(program.parent_path().parent_path() / "share" / "cluster-iobench" / "plans");
  candidates.emplace_back(IOBENCH_SOURCE_PLANS);
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate, error)) return candidate;
  }
  const auto append = [](std::string* text, const fs::path& path) { text->append(path.string()); };
  return absl::NotFoundError(absl::StrCat("the suites are not installed: there is no ",
                                          absl::StrJoin(candidates, " and no ", append)));
}

std::vector<fs::path> PlansIn(const fs::path& directory) {
  std::vector<fs::path> plans;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == kExtension) plans.push_back(entry.path());
  }
  std::sort(plans.begin(), plans.end());
  return plans;
}

std::string FirstCommentOf(const fs::path& plan) {
  const auto text = ReadSmallFile("suite", plan.string(), kLongestSuiteBytes);
  if (!text.ok()) return std::string(text.status().message());
  return std::string(absl::StripPrefix(absl::string_view(*text).substr(0, text->find('\n')), "# "));
}

}  // namespace

absl::StatusOr<std::string> SuiteList() {
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  std::string text = absl::StrCat("Suites (plans in ", directory.string(), "):\n");
  for (const fs::path& plan : PlansIn(directory)) {
    absl::StrAppendFormat(&text, "  %-14s %s\n", plan.stem().string(), FirstCommentOf(plan));
  }
  return text;
}

absl::StatusOr<std::vector<std::string>> SuiteOptions(const std::string& name) {
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  const auto text = ReadSmallFile("suite", directory / absl::StrCat(name, kExtension), kLongestSuiteBytes);
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
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  std::vector<std::string> names;
  for (const fs::path& file : PlansIn(directory)) {
    names.push_back(file.stem().string());
    if (names.back() == name) return file.string();
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return absl::NotFoundError(absl::StrCat(
      "there is no suite \"", name, "\"; there are: ", absl::StrJoin(names, ", "), DidYouMean(name, known)));
}

}  // namespace iobench

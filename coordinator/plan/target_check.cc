#include "coordinator/plan/target_check.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

bool NamesDataDirectory(const fs::path& path) {
  return std::find(path.begin(), path.end(), fs::path(kDataDirectoryName)) != path.end();
}

// Checks the path's name and, for a symbolic link, that of its destination.
bool InDataDirectory(const std::string& path) {
  if (path.find("://") != std::string::npos) return NamesDataDirectory(path.substr(0, path.find('?')));
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error || NamesDataDirectory(absolute.lexically_normal())) return !error;
  const fs::path real = fs::weakly_canonical(absolute, error);
  return !error && NamesDataDirectory(real);
}

}  // namespace

absl::Status CheckTargets(const v1::Plan& plan) {
  if (!UsesFiles(plan)) return absl::OkStatus();
  for (const v1::Target& target : plan.targets()) {
    if (!InDataDirectory(target.path())) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--path ", target.path(), " is in the data directory of a run (", kDataDirectoryName,
        "), and a second data directory there would prevent the removal of the first: give the directory that ",
        kDataDirectoryName, " is in"));
  }
  return absl::OkStatus();
}

absl::Status CheckOutDirectory(const std::string& directory) {
  if (!InDataDirectory(directory)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--out ", directory, " is in the data directory of a run (", kDataDirectoryName,
      "), which is emptied and then removed: choose another directory for the results with --out"));
}

}  // namespace iobench

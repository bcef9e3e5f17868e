#include "coordinator/target_check.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "coordinator/plan_check.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

constexpr char kDataDirectory[] = "cluster-iobench.data";

bool NamesDataDirectory(const fs::path& path) {
  return std::find(path.begin(), path.end(), fs::path(kDataDirectory)) != path.end();
}

// By its name, or by that of what it is a link to.
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
        "--path ", target.path(), " is in the data directory of a run (", kDataDirectory,
        "), and another one made there would keep that run's from being removed: give the directory that ",
        kDataDirectory, " is in"));
  }
  return absl::OkStatus();
}

absl::Status CheckOutDirectory(const std::string& directory) {
  if (!InDataDirectory(directory)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--out ", directory, " is in the data directory of a run (", kDataDirectory,
      "), which is emptied and then removed: choose a directory for results elsewhere with --out"));
}

}  // namespace iobench

#include "coordinator/plan/check/target_check.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"

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

absl::Status CheckOnlyTargets(const v1::Plan& plan) {
  const std::vector<uint32_t> used = OnlyTargets(plan);
  if (used.empty()) return absl::OkStatus();
  const auto refuse = [](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("--each-path (only_target): ", why));
  };
  const auto target_count = static_cast<size_t>(plan.targets_size());
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.only_target() == 0 || phase.only_target() > target_count) {
      return refuse(absl::StrCat("phase ", phase.name(), " has only_target ", phase.only_target(),
                                 ": each phase needs a number from 1 to ", target_count,
                                 ", the number of targets, or no phase has one"));
    }
    if (phase.score() != v1::SCORE_NONE) {
      return refuse("a score is that of one storage: run the suite on each path by itself");
    }
  }
  if (used.size() < target_count) {
    return refuse("some target is used by no phase: leave it out of the targets, or add phases for it");
  }
  for (const v1::Target& target : plan.targets()) {
    if (!target.who().workers().empty()) {
      return refuse("every worker uses every target, so targets cannot select workers (who)");
    }
  }
  if (plan.keep_data()) return refuse("it cannot keep its data (-w, keep_data)");
  if (!plan.files().existing_files().empty()) return refuse("existing files belong to no target");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTargets(const v1::Plan& plan) {
  IOBENCH_RETURN_IF_ERROR(CheckOnlyTargets(plan));
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

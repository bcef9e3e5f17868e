#include "coordinator/plan/check/target_check.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

// The current directory is "." where --out is not given.
std::string AbsoluteName(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  return error ? path : absolute.string();
}

bool NamesDataDirectory(const fs::path& path) {
  return std::find(path.begin(), path.end(), fs::path(kDataDirectoryName)) != path.end();
}

// Checks the path's name and, for a symbolic link, that of its destination. Sets `errno_value` of the call that found it out.
bool InDataDirectory(const std::string& path, int& errno_value) {
  errno_value = 0;
  if (path.find("://") != std::string::npos) return NamesDataDirectory(path.substr(0, path.find('?')));
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error || NamesDataDirectory(absolute.lexically_normal())) return !error;
  const std::string real = files::Canonical(absolute.string());
  errno_value = errno;
  return NamesDataDirectory(real);
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
    int errno_value = 0;
    const bool is_in = InDataDirectory(target.path(), errno_value);
    IOBENCH_RETURN_IF_ERROR(files::UnansweredTarget(target.path(), errno_value));
    if (!is_in) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--path ", target.path(), " is in the data directory of a run (", kDataDirectoryName,
        "), and a second data directory there would prevent the removal of the first: give the directory that ",
        kDataDirectoryName, " is in"));
  }
  return absl::OkStatus();
}

absl::Status CheckOutDirectory(const std::string& directory) {
  int errno_value = 0;
  if (!InDataDirectory(directory, errno_value))
    return files::UnansweredCall(absl::StrCat("--out ", AbsoluteName(directory)), errno_value);
  return absl::InvalidArgumentError(absl::StrCat(
      "--out ", directory, " is in the data directory of a run (", kDataDirectoryName,
      "), which is emptied and then removed: choose another directory for the results with --out"));
}

}  // namespace iobench

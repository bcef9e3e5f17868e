#include "coordinator/commands/clean.h"

#include <algorithm>
#include <cerrno>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/files/files.h"
#include "coordinator/process/failure.h"
#include "worker/check/left_checks.h"
#include "worker/data_directory/data_directory.h"
#include "worker/data_directory/data_removal.h"

namespace iobench {

namespace {

int CleanDataOf(const std::string& directory, bool force) {
  const absl::StatusOr<CleanReport> cleaned =
      CleanDataDirectory(directory, force ? IfOutOfSight::kAccept : IfOutOfSight::kRefuse);
  if (const int error = ErrnoOf(cleaned.status()); error == ENOENT || error == ENOTDIR)
    return Fail(absl::NotFoundError(absl::StrCat(std::string(cleaned.status().message()), ": give the --path of a run")), kExitUsage);
  if (!cleaned.ok()) return Fail(cleaned.status(), kExitUsage);
  if (!cleaned->why_not_ours.empty()) {
    for (const std::string& file : cleaned->foreign_files)
      std::cout << "left alone, not ours: " << file << std::endl;
    return Fail(absl::FailedPreconditionError(
                    absl::StrCat("nothing was removed below ", directory,
                                 ": without a readable manifest none of its files is known to be ours (",
                                 cleaned->why_not_ours, ")")),
                kExitUsage);
  }
  std::cout << "removed " << cleaned->removed_files << " files of cluster-iobench below " << directory
            << std::endl;
  for (const std::string& file : cleaned->foreign_files)
    std::cout << "left alone, not ours: " << file << std::endl;
  if (cleaned->found && !cleaned->foreign_files.empty()) {
    std::cout
        << "the directory stays because it holds files that are not ours: move them away, then clean again"
        << std::endl;
  }
  return kExitOk;
}

// Removes what preflight and validate have left in the directory. `failed`: the data could not be cleaned, perhaps
// because the directory cannot be opened at all.
int CleanChecksOf(const std::string& directory, bool force, bool failed) {
  const absl::StatusOr<std::string> target = TargetOf(directory);
  const absl::StatusOr<LeftChecks> left =
      target.ok() ? RemoveLeftChecks(*target, force) : absl::StatusOr<LeftChecks>(target.status());
  if (!left.ok()) return failed ? int{kExitUsage} : Fail(left.status(), kExitUsage);
  if (left->removed_files + left->removed_directories > 0) {
    std::cout << "removed " << left->removed_files << " check files and " << left->removed_directories
              << " directories of validate below " << directory << std::endl;
  }
  for (const std::string& file : left->foreign) std::cout << "left alone, not ours: " << file << std::endl;
  for (const std::string& why : left->refused) PrintError(why);
  return left->refused.empty() ? kExitOk : kExitUsage;
}

}  // namespace

int Clean(const std::vector<std::string>& directories, bool force) {
  int exit_code = kExitOk;
  for (const std::string& directory : directories) {
    if (const absl::Status answers = files::TargetAnswers(directory); !answers.ok()) {
      exit_code = std::max(exit_code, Fail(answers, kExitUsage));
      continue;
    }
    const int of_data = CleanDataOf(directory, force);
    exit_code = std::max({exit_code, of_data, CleanChecksOf(directory, force, of_data != kExitOk)});
  }
  return exit_code;
}

}  // namespace iobench

#include "coordinator/clean_command.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "coordinator/run/failure.h"
#include "worker/data_directory/data_directory.h"

namespace iobench {

int Clean(const std::string& directory, bool force) {
  const absl::StatusOr<CleanReport> cleaned =
      CleanDataDirectory(directory, force ? IfOutOfSight::kAccept : IfOutOfSight::kRefuse);
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
  std::cout << "removed " << cleaned->removed_files << " files of ours below " << directory << std::endl;
  for (const std::string& file : cleaned->foreign_files)
    std::cout << "left alone, not ours: " << file << std::endl;
  if (cleaned->found && !cleaned->foreign_files.empty()) {
    std::cout
        << "the directory stays because it holds files that are not ours: move them away, then clean again"
        << std::endl;
  }
  return kExitOk;
}

}  // namespace iobench

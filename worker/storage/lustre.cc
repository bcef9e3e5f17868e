#include "worker/storage/lustre.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/program.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

constexpr char kTool[] = "lfs";

bool IsInPath(const char* program) {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return false;
  const std::vector<std::string> directories = absl::StrSplit(path, ':');
  return std::any_of(directories.begin(), directories.end(), [program](const std::string& directory) {
    const std::string file = absl::StrCat(directory.empty() ? "." : directory, "/", program);
    return ::access(file.c_str(), X_OK) == 0;
  });
}

}  // namespace

absl::StatusOr<uint64_t> FileSystemMagic(const std::string& path) {
  const std::string what = absl::StrCat("statfs ", path);
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, RightsOfThisWorker().paths.Open(what, path, O_PATH));
  struct statfs facts {};
  if (::fstatfs(fd.get(), &facts) != 0) return ErrnoStatus(what, errno);
  return static_cast<uint64_t>(static_cast<uint32_t>(facts.f_type));
}

absl::Status CheckStripe(const std::string& target, const MagicOf& magic_of) {
  IOBENCH_RETURN_IF_ERROR(CheckAllowed(WorkerAction::kStripe));
  const absl::StatusOr<uint64_t> magic = magic_of(target);
  if (!magic.ok()) return absl::InvalidArgumentError(absl::StrCat("--stripe: ", magic.status().message()));
  if (*magic != kLustreMagic) {
    return absl::InvalidArgumentError(
        absl::StrCat("--stripe only applies to Lustre, and ", target,
                     " is on another file system: leave it out, or give another --path"));
  }
  if (!IsInPath(kTool)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--stripe needs Lustre's `", kTool,
                     "`, which is not in $PATH: install lustre-client's tools, or leave it out"));
  }
  return absl::OkStatus();
}

absl::Status SetStripe(const std::string& directory, const v1::Stripe& stripe) {
  IOBENCH_RETURN_IF_ERROR(CheckAllowed(WorkerAction::kStripe));
  std::vector<std::string> command = {kTool, "setstripe", "-c", absl::StrCat(stripe.count())};
  if (stripe.bytes() > 0) {
    command.emplace_back("-S");
    command.push_back(absl::StrCat(stripe.bytes()));
  }
  command.push_back(directory);
  return RunProgram(std::move(command));
}

}  // namespace iobench

#include "worker/check/check_tree.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/status_util.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr size_t kLongestNameBytes = 255;  // NAME_MAX of nearly every file system

std::string DirectoryName(uint32_t directory) {
  return absl::StrCat("d", directory);
}

absl::StatusOr<UniqueFd> OpenBelow(int parent, const std::string& name, int flags, const std::string& path) {
  UniqueFd opened(::openat(parent, name.c_str(), flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.valid()) return opened;
  return ErrnoStatus(absl::StrCat("open directory ", path), errno);
}

// Has the format of a check file's contents.
std::string OwnerText(std::string_view tree, std::string_view process) {
  std::optional<ProcessIdentity> owner = ProcessFromLine(process);
  if (!owner) owner = OwnIdentity();
  return absl::StrCat("cluster-iobench check file of run ", std::string(tree.substr(tree.rfind('-') + 1)),
                      " of ", HostName(), "\n", owner ? absl::StrCat("process ", ToLine(*owner), "\n") : "");
}

// Something that another worker has removed meanwhile is no error.
absl::Status UnlessGone(const absl::Status& status) {
  return ErrnoOf(status) == ENOENT ? absl::OkStatus() : status;
}

// Trials make directories with files in them; nothing of ours goes deeper.
constexpr int kDeepest = 3;

// Removes the directory with all that is in it, down to `levels` directories.
absl::Status RemoveDirectoryOf(const Directory& parent, const std::string& name, int levels = kDeepest) {
  const auto opened = parent.OpenDirectory(name);
  // Somebody has put something else there.
  if (absl::IsFailedPrecondition(opened.status())) return UnlessGone(parent.Remove(name));
  if (!opened.ok()) return UnlessGone(opened.status());
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*opened)->Names());
  absl::Status all;
  for (const std::string& each : names) {
    absl::Status removed = (*opened)->Remove(each);
    if (ErrnoOf(removed) == EISDIR || ErrnoOf(removed) == EPERM) {
      removed = levels > 1 ? RemoveDirectoryOf(**opened, each, levels - 1) : (*opened)->RemoveDirectory(each);
    }
    all.Update(UnlessGone(removed));
  }
  all.Update(UnlessGone(parent.RemoveDirectory(name)));
  return all;
}

}  // namespace

std::string CheckTreeName(uint64_t run_id) {
  return absl::StrCat("cluster-iobench.validate-", absl::Hex(run_id, absl::kZeroPad16));
}

std::string TreeFileName(uint32_t file, v1::FileAction::Style style) {
  std::string name = absl::StrCat("f", file);
  const size_t bytes = style == v1::FileAction::LONGEST    ? kLongestNameBytes
                       : style == v1::FileAction::TOO_LONG ? kLongestNameBytes + 1
                                                           : 0;
  if (style == v1::FileAction::UTF8) name += " \u00fc\u00f1\u0416\u6587\u5b57\U0001f4c1";
  if (name.size() < bytes) name.append(bytes - name.size(), 'x');
  return name;
}

absl::StatusOr<CheckTree> CheckTree::At(const std::string& target, uint64_t run_id) {
  IOBENCH_ASSIGN_OR_RETURN(std::unique_ptr<Directory> opened, OpenTarget(target));
  if (opened->fd() < 0) {
    return absl::UnimplementedError(
        absl::StrCat(target, " is not mounted: this check needs a mounted file system"));
  }
  return CheckTree(std::move(opened), CheckTreeName(run_id));
}

absl::StatusOr<UniqueFd> CheckTree::OpenDirectory(uint32_t directory, DirectoryOpening opening) const {
  // The tree itself need not be fresh: nobody looks up a name in it before its directory is made.
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd own,
                           OpenBelow(target_->fd(), name_, O_PATH, target_->PathOf(name_)));
  const int flags = opening == DirectoryOpening::kFresh ? O_RDONLY : O_PATH;
  return OpenBelow(own.get(), DirectoryName(directory), flags, PathOf(directory, ""));
}

absl::Status CheckTree::MakeDirectory(uint32_t directory, std::string_view process) const {
  absl::Status made = target_->MakeDirectory(name_);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> own, target_->OpenDirectory(name_));
  if (made.ok()) IOBENCH_RETURN_IF_ERROR(WriteNewFile(*own, kTreeOwnerName, OwnerText(name_, process)));
  made = own->MakeDirectory(DirectoryName(directory));
  return absl::IsAlreadyExists(made) ? absl::OkStatus() : made;
}

absl::Status CheckTree::Remove(uint32_t directory) const {
  const auto own = target_->OpenDirectory(name_);
  if (!own.ok()) return UnlessGone(own.status());
  if (directory != 0) return RemoveDirectoryOf(**own, DirectoryName(directory));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*own)->Names());
  absl::Status all;
  for (const std::string& name : names) {
    if (name != kTreeOwnerName) all.Update(RemoveDirectoryOf(**own, name));
  }
  if (all.ok()) all.Update(UnlessGone((*own)->Remove(kTreeOwnerName)));
  all.Update(UnlessGone(target_->RemoveDirectory(name_)));
  return all;
}

std::string CheckTree::PathOf(uint32_t directory, const std::string& name) const {
  return absl::StrCat(target_->PathOf(name_), "/", DirectoryName(directory), name.empty() ? "" : "/", name);
}

}  // namespace iobench

#include "common/own_files/own_directory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr mode_t kDirectoryMode = 0750;
constexpr mode_t kProbeMode = 0600;
constexpr int kMaxLinks = 40;  // as the kernel
constexpr int kAsPath = O_PATH | O_NOFOLLOW | O_CLOEXEC;

// Most paths have no links, and are opened with one call. -1: it has some, or this system has no openat2 (Linux 5.6).
int OpenWithoutLinks(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how)));
}

std::string TargetOf(int link_fd) {
  std::string target(PATH_MAX, '\0');
  const ssize_t bytes = ::readlinkat(link_fd, "", target.data(), target.size());
  target.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return target;
}

// Puts the parts of `path` before those that are left. Returns where they begin.
UniqueFd BeginOf(std::string_view path, UniqueFd here, std::deque<std::string>& parts) {
  const std::vector<std::string> more = absl::StrSplit(absl::string_view(path.data(), path.size()), '/', absl::SkipEmpty());
  parts.insert(parts.begin(), more.begin(), more.end());
  return !path.empty() && path.front() == '/' ? UniqueFd(::open("/", kAsPath)) : std::move(here);
}

absl::StatusOr<UniqueFd> OpenStepByStep(const std::string& path) {
  std::deque<std::string> parts;
  UniqueFd here = BeginOf(path, UniqueFd(::open(".", kAsPath)), parts);
  for (int links = 0; !parts.empty();) {
    const std::string part = std::move(parts.front());
    parts.pop_front();
    UniqueFd next(::openat(here.get(), part.c_str(), kAsPath));
    struct stat facts {};
    if (!next.valid() || ::fstat(next.get(), &facts) != 0) return ErrnoStatus(path, errno);
    if (!S_ISLNK(facts.st_mode)) {
      here = std::move(next);
      continue;
    }
    if (!BelongsToUs(facts)) {
      return absl::PermissionDeniedError(absl::StrCat(path, ": the symbolic link ", part, " in it belongs to user ", facts.st_uid,
                                                      ", and this is user ", ::geteuid(),
                                                      ": name the directory that it leads to"));
    }
    if (++links > kMaxLinks) return ErrnoStatus(path, ELOOP);
    here = BeginOf(TargetOf(next.get()), std::move(here), parts);
  }
  UniqueFd opened(::openat(here.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return ErrnoStatus(path, errno);
  return opened;
}

// "a/b/" → "a" and "b"; "b" → "." and "b".
std::pair<std::string, std::string> ParentAndName(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

absl::Status NotMade(const std::string& path, int error) {
  return ErrnoStatus(absl::StrCat("create directory ", path), error);
}

}  // namespace

bool BelongsToUs(const struct stat& facts) {
  return facts.st_uid == 0 || facts.st_uid == ::geteuid();
}

FileUser ThisFileUser() {
  FileUser user{.user = ::geteuid(), .groups = {}};
  user.groups.resize(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  user.groups.resize(static_cast<size_t>(
      std::max(0, ::getgroups(static_cast<int>(user.groups.size()), user.groups.data()))));
  user.groups.push_back(::getegid());
  return user;
}

absl::Status JudgeDirectory(const std::string& path, const struct stat& directory, const FileUser& user,
                            const struct stat* new_file) {
  const mode_t mode = directory.st_mode & 07777;
  // By its owner, who then trusts the group as much as the group trusts him.
  const bool shared = (mode & (S_IWGRP | S_IWOTH)) == S_IWGRP &&
                      std::find(user.groups.begin(), user.groups.end(), directory.st_gid) != user.groups.end();
  const bool own = directory.st_uid == 0 || directory.st_uid == user.user || shared ||
                   (new_file != nullptr && new_file->st_uid == directory.st_uid);
  if (!own) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "directory %s belongs to user %d (mode %04o), who could exchange what this program, as user %d, writes there: use a "
        "directory of your own",
        path, directory.st_uid, mode, user.user));
  }
  const bool has_modes = new_file == nullptr || (new_file->st_mode & S_IWOTH) == 0;
  if (has_modes && (mode & S_IWOTH) != 0 && (mode & S_ISVTX) == 0) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "directory %s belongs to user %d, and every user can exchange files in it (mode %04o): use chmod o-w, or a directory of "
        "your own",
        path, directory.st_uid, mode));
  }
  return absl::OkStatus();
}

absl::StatusOr<OwnDirectory> OwnDirectory::Open(const std::string& path) {
  if (UniqueFd fd(OpenWithoutLinks(path)); fd.valid()) return OwnDirectory(path, std::move(fd));
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, OpenStepByStep(path));
  return OwnDirectory(path, std::move(fd));
}

absl::StatusOr<OwnDirectory> OwnDirectory::Make(const std::string& path) {
  absl::StatusOr<OwnDirectory> there = Open(path);
  if (absl::IsNotFound(there.status())) {
    const auto [parent_path, name] = ParentAndName(path);
    absl::StatusOr<OwnDirectory> parent = Open(parent_path);
    if (absl::IsNotFound(parent.status()) && parent_path != path) parent = Make(parent_path);
    if (!parent.ok()) return parent;
    // EEXIST: another process was faster, or it is a link that leads nowhere.
    if (::mkdirat(parent->fd(), name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) return NotMade(path, errno);
    there = Open(path);
  }
  if (const int error = ErrnoOf(there.status()); error != 0) return NotMade(path, error);
  if (there.ok()) IOBENCH_RETURN_IF_ERROR(there->Check());
  return there;
}

absl::Status OwnDirectory::Judge(const struct stat* new_file) const {
  struct stat facts {};
  if (::fstat(fd(), &facts) != 0) return ErrnoStatus(path_, errno);
  return JudgeDirectory(path_, facts, ThisFileUser(), new_file);
}

absl::Status OwnDirectory::Check() const {
  const absl::Status judged = Judge(nullptr);
  if (!absl::IsPermissionDenied(judged)) return judged;
  const std::string probe = absl::StrCat("cluster-iobench.owner-", ::getpid());
  const absl::StatusOr<UniqueFd> file = Create(probe, kProbeMode);
  const bool is_others = absl::IsPermissionDenied(file.status()) || absl::IsAlreadyExists(file.status());
  if (!file.ok()) return is_others ? judged : file.status();
  ::unlinkat(fd(), probe.c_str(), 0);
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> OwnDirectory::Create(const std::string& name, mode_t mode, int flags) const {
  UniqueFd file(::openat(fd(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, mode));
  if (!file.valid()) return ErrnoStatus(absl::StrCat("create ", path_, "/", name), errno);
  struct stat facts {};
  absl::Status judged = ::fstat(file.get(), &facts) == 0 ? Judge(&facts) : ErrnoStatus(path_, errno);
  if (judged.ok()) return file;
  ::unlinkat(fd(), name.c_str(), 0);
  return judged;
}

}  // namespace iobench

#include "worker/rights/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

// On a busy directory, the kernel cannot prove in one go that ".." was not used for an escape, and returns EAGAIN.
// Paths with ".." never get here, so these attempts are enough against renames elsewhere.
constexpr int kMaxAttempts = 64;

int OpenAs(int directory_fd, const char* path, open_how how) {
  how.flags |= O_CLOEXEC;
  how.resolve |= RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0;; ++attempt) {
    const auto fd = static_cast<int>(::syscall(SYS_openat2, directory_fd, path, &how, sizeof(how)));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR) || attempt == kMaxAttempts) return fd;
  }
}

open_how Directory() {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY;
  return how;
}

bool HasOpenat2() {
  static const bool has = [] {
    const UniqueFd probe(OpenAs(AT_FDCWD, "/", Directory()));
    return probe.valid() || (errno != ENOSYS && errno != EPERM);
  }();
  return has;
}

int Failed(int error) {
  errno = error;
  return -1;
}

bool IsLink(int directory_fd, const char* name) {
  struct stat facts {};
  return ::fstatat(directory_fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
}

// Opens one name. With O_PATH, O_NOFOLLOW opens the link itself; with O_DIRECTORY it says ENOTDIR.
int OpenOne(int directory_fd, const char* name, int flags, mode_t mode) {
  UniqueFd fd(::openat(directory_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.valid()) {
    const int error = errno;
    return Failed(error == ENOTDIR && IsLink(directory_fd, name) ? ELOOP : error);
  }
  struct stat facts {};
  if ((flags & O_PATH) != 0 && (::fstat(fd.get(), &facts) != 0 || S_ISLNK(facts.st_mode))) return Failed(ELOOP);
  return fd.Release();
}

}  // namespace

int OpenBeneath(int directory_fd, const char* path, int flags, mode_t mode) {
  if (!HasOpenat2()) return OpenBeneathStepByStep(directory_fd, path, flags, mode);
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH;
  return OpenAs(directory_fd, path, how);
}

int OpenDirectoryWithoutLinks(const char* path) {
  if (HasOpenat2()) return OpenAs(AT_FDCWD, path, Directory());
  const UniqueFd top(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return -1;
  while (*path == '/') ++path;
  return OpenBeneathStepByStep(top.get(), *path == '\0' ? "." : path, O_PATH | O_DIRECTORY);
}

int OpenBeneathStepByStep(int directory_fd, const char* path, int flags, mode_t mode) {
  if (*path == '/') return Failed(EXDEV);
  if (*path == '\0') return Failed(ENOENT);
  std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  std::erase(parts, ".");
  for (const std::string& part : parts) {
    if (part == "..") return Failed(EXDEV);
  }
  if (parts.empty()) parts.emplace_back(".");
  if (path[std::char_traits<char>::length(path) - 1] == '/') {  // names a directory, which open does not create
    if ((flags & O_CREAT) != 0) return Failed(EISDIR);
    flags |= O_DIRECTORY;
  }
  UniqueFd held;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    UniqueFd next(OpenOne(held.valid() ? held.get() : directory_fd, parts[i].c_str(), O_PATH | O_DIRECTORY, 0));
    if (!next.valid()) return -1;
    held = std::move(next);
  }
  return OpenOne(held.valid() ? held.get() : directory_fd, parts.back().c_str(), flags, mode);
}

}  // namespace iobench

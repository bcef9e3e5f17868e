#include "worker/storage/local_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/rights/worker_rights.h"
#include "worker/storage/local_file.h"
#include "worker/storage/lustre.h"
#include "worker/storage/told_space.h"

namespace iobench {
namespace {

constexpr int64_t kZfsMagic = 0x2fc12fc1;
constexpr int64_t kGpfsMagic = 0x47504653;
constexpr int64_t kGfs2Magic = 0x01161970;

// File systems where an inode keeps its number for its whole life. FUSE, SMB, FAT and overlays may assign another
// number at each lookup.
constexpr std::array<int64_t, 14> kLastingNumbers = {
    EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,  TMPFS_MAGIC,
    RAMFS_MAGIC,      NFS_SUPER_MAGIC, CEPH_SUPER_MAGIC,  OCFS2_SUPER_MAGIC, kZfsMagic,
    kLustreMagic,     kGpfsMagic,      kGfs2Magic,        NILFS_SUPER_MAGIC};

}  // namespace

absl::StatusOr<std::unique_ptr<Directory>> LocalDirectory::Open(const std::string& path) {
  // Opening for reading makes an NFS client ask the server whether the directory has changed. With O_PATH alone, it
  // could use its cache for up to acdirmax (60 s) and see no data, although another client has kept some there.
  const AllowedPaths& paths = RightsOfThisWorker().paths;
  const std::string what = absl::StrCat("open directory ", path);
  absl::StatusOr<UniqueFd> fd = paths.Open(what, path, O_RDONLY | O_DIRECTORY);
  if (ErrnoOf(fd.status()) == EACCES) fd = paths.Open(what, path, O_PATH | O_DIRECTORY);
  if (!fd.ok()) return fd.status();
  return std::make_unique<LocalDirectory>(path, *std::move(fd));
}

absl::StatusOr<DirectoryIdentity> LocalDirectory::Identity() const {
  struct stat facts {};
  struct statfs filesystem {};
  if (::fstat(fd(), &facts) != 0 || ::fstatfs(fd(), &filesystem) != 0) {
    return ErrnoStatus(absl::StrCat("look at ", path()), errno);
  }
  const auto kind = static_cast<int64_t>(static_cast<uint32_t>(filesystem.f_type));
  if (std::find(kLastingNumbers.begin(), kLastingNumbers.end(), kind) == kLastingNumbers.end()) {
    return DirectoryIdentity{};
  }
  return DirectoryIdentity{.number = facts.st_ino,
                           .changed_ns = facts.st_ctim.tv_sec * 1'000'000'000 + facts.st_ctim.tv_nsec};
}

absl::StatusOr<v1::Space> LocalDirectory::Space() const {
  return SpaceAt(fd(), path());
}

absl::StatusOr<std::vector<std::string>> LocalDirectory::Names() const {
  UniqueFd again(::openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const stream = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (stream == nullptr) return ErrnoStatus(absl::StrCat("list ", path()), errno);
  again.Release();
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, ::closedir);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream);
    if (entry == nullptr) {
      if (errno != 0) return ErrnoStatus(absl::StrCat("list ", path()), errno);
      return names;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

absl::StatusOr<NodeFacts> LocalDirectory::Look(const std::string& name) const {
  struct stat facts {};
  if (::fstatat(fd(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) return FactsFrom(facts);
  return ErrnoStatus(absl::StrCat("look at ", PathOf(name)), errno);
}

absl::StatusOr<std::unique_ptr<Directory>> LocalDirectory::OpenDirectory(const std::string& name) const {
  UniqueFd opened(::openat(fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.valid()) return std::make_unique<LocalDirectory>(PathOf(name), std::move(opened));
  const int error = errno;
  if (error != ELOOP && error != ENOTDIR) {
    return ErrnoStatus(absl::StrCat("open directory ", PathOf(name)), error);
  }
  return absl::FailedPreconditionError(
      absl::StrCat(PathOf(name), " is not a directory (a symbolic link is not followed)"));
}

absl::Status LocalDirectory::MakeDirectory(const std::string& name) const {
  if (::mkdirat(fd(), name.c_str(), 0755) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("create directory ", PathOf(name)), errno);
}

absl::Status LocalDirectory::RemoveDirectory(const std::string& name) const {
  if (::unlinkat(fd(), name.c_str(), AT_REMOVEDIR) == 0) return absl::OkStatus();
  if (errno == ENOTEMPTY || errno == EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat("directory ", PathOf(name), " is not empty"));
  }
  return ErrnoStatus(absl::StrCat("remove directory ", PathOf(name)), errno);
}

absl::StatusOr<std::unique_ptr<File>> LocalDirectory::OpenFile(const std::string& name, OpenFor use) const {
  const int flags = use == OpenFor::kReading      ? O_RDONLY
                    : use == OpenFor::kWriting    ? O_WRONLY | O_CREAT
                    : use == OpenFor::kWritingOld ? O_WRONLY
                                                  : O_WRONLY | O_CREAT | O_EXCL;
  return LocalFile::Open(fd(), name, flags | O_NOFOLLOW, PathOf(name));
}

absl::Status LocalDirectory::Remove(const std::string& name) const {
  if (::unlinkat(fd(), name.c_str(), 0) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("remove ", PathOf(name)), errno);
}

absl::Status LocalDirectory::Rename(const std::string& from, const std::string& to) const {
  if (::renameat(fd(), from.c_str(), fd(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("rename ", from, " to ", PathOf(to)), errno);
}

absl::Status LocalDirectory::Link(const std::string& from, const std::string& to) const {
  if (::linkat(fd(), from.c_str(), fd(), to.c_str(), 0) == 0) return absl::OkStatus();
  if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) {
    return absl::UnimplementedError(absl::StrCat("link ", PathOf(to), ": no hard links on this file system"));
  }
  return ErrnoStatus(absl::StrCat("create ", PathOf(to)), errno);
}

absl::StatusOr<v1::Space> SpaceAt(int fd, const std::string& path) {
  struct statvfs facts {};
  if (::fstatvfs(fd, &facts) != 0) return ErrnoStatus(absl::StrCat("space of ", path), errno);
  return SpaceOf({.unit_bytes = facts.f_frsize,
                  .total = facts.f_blocks,
                  .free = facts.f_bfree,
                  .available = facts.f_bavail,
                  .total_items = facts.f_files,
                  .available_items = facts.f_favail});
}

absl::StatusOr<std::unique_ptr<File>> OpenUsersFile(const std::string& path) {
  // O_NONBLOCK: does not wait for a FIFO of that name.
  IOBENCH_ASSIGN_OR_RETURN(
      UniqueFd fd, RightsOfThisWorker().paths.Open(absl::StrCat("open ", path), path, O_RDONLY | O_NONBLOCK));
  return LocalFile::From(std::move(fd), path);
}

}  // namespace iobench

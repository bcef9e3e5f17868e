#include "worker/storage/local_file.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr decltype(statfs::f_type) kNfsMagic = 0x6969;
constexpr uint64_t kStatBlockBytes = 512;

NodeKind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return NodeKind::kFile;
  if (S_ISDIR(mode)) return NodeKind::kDirectory;
  return S_ISLNK(mode) ? NodeKind::kSymlink : NodeKind::kOther;
}

}  // namespace

NodeFacts FactsFrom(const struct stat& facts) {
  return {.kind = KindOf(facts.st_mode),
          .bytes = static_cast<uint64_t>(facts.st_size),
          .allocated_bytes = static_cast<uint64_t>(facts.st_blocks) * kStatBlockBytes,
          .link_count = facts.st_nlink};
}

absl::StatusOr<std::unique_ptr<File>> LocalFile::Open(int directory_fd, const std::string& name, int flags,
                                                      std::string path) {
  // Not blocked by a FIFO of that name.
  UniqueFd fd(::openat(directory_fd, name.c_str(), flags | O_NONBLOCK | O_CLOEXEC, 0640));
  const int error = errno;
  if (!fd.valid() && error == ELOOP && (flags & O_NOFOLLOW) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is a symbolic link"));
  }
  if (!fd.valid()) {
    return ErrnoStatus(absl::StrCat((flags & O_EXCL) != 0 ? "create " : "open ", path), error);
  }
  auto file = std::make_unique<LocalFile>(std::move(path), std::move(fd));
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, file->Facts());
  if (facts.kind == NodeKind::kFile) return file;
  return absl::FailedPreconditionError(absl::StrCat(file->path(), " is not a regular file"));
}

absl::StatusOr<NodeFacts> LocalFile::Facts() {
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) == 0) return FactsFrom(facts);
  return ErrnoStatus(absl::StrCat("look at ", path()), errno);
}

absl::StatusOr<size_t> LocalFile::ReadAt(uint64_t offset, std::span<std::byte> into) {
  size_t size = 0;
  while (size < into.size()) {
    const ssize_t moved =
        ::pread(fd_.get(), into.data() + size, into.size() - size, static_cast<off_t>(offset + size));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(absl::StrCat("read ", path()), errno);
    if (moved == 0) break;
    size += static_cast<size_t>(moved);
  }
  return size;
}

absl::Status LocalFile::WriteAt(uint64_t offset, std::span<const std::byte> data) {
  for (size_t written = 0; written < data.size();) {
    const uint64_t at = offset + written;
    const ssize_t moved =
        ::pwrite(fd_.get(), data.data() + written, data.size() - written, static_cast<off_t>(at));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(absl::StrCat("write ", path(), " at offset ", at), errno);
    written += static_cast<size_t>(moved);
  }
  return absl::OkStatus();
}

absl::Status LocalFile::Sync() {
  if (::fsync(fd_.get()) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("fsync ", path()), errno);
}

// Where the file system can tell holes, they say it. NFS before 4.2 cannot and shows none; there the allocated blocks
// do.
absl::StatusOr<bool> LocalFile::HasHole(uint64_t begin, uint64_t end) {
  const off_t hole = ::lseek(fd_.get(), static_cast<off_t>(begin), SEEK_HOLE);
  if (hole >= 0 && static_cast<uint64_t>(hole) < end) return true;
  struct statfs filesystem {};
  if (::fstatfs(fd_.get(), &filesystem) != 0 || filesystem.f_type != kNfsMagic) return false;
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, Facts());
  return facts.allocated_bytes < facts.bytes;
}

// fallocate(), because posix_fallocate() would write where the file system cannot allocate.
absl::Status LocalFile::Allocate(uint64_t offset, uint64_t bytes) {
  while (::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    const std::string what = absl::StrCat("preallocate ", bytes, " bytes of ", path());
    if (error != EOPNOTSUPP && error != ENOSYS) return ErrnoStatus(what, error);
    return absl::UnimplementedError(
        absl::StrCat(what, ": this file system cannot allocate ahead (fallocate)"));
  }
  return absl::OkStatus();
}

void LocalFile::ExpectScatteredReads() {
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);  // where it is not possible it is no loss
}

absl::Status LocalFile::ForgetPages() {
  if (::fdatasync(fd_.get()) != 0) return ErrnoStatus(absl::StrCat("fdatasync ", path()), errno);
  const int error = ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
  return error == 0 ? absl::OkStatus() : ErrnoStatus(absl::StrCat("posix_fadvise ", path()), error);
}

}  // namespace iobench

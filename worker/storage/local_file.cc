#include "worker/storage/local_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/storage/extents.h"
#include "worker/storage/file_layout.h"

namespace iobench {
namespace {

constexpr decltype(statfs::f_type) kNfsMagic = 0x6969;
constexpr uint64_t kStatBlockBytes = 512;

NodeKind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return NodeKind::kFile;
  if (S_ISDIR(mode)) return NodeKind::kDirectory;
  return S_ISLNK(mode) ? NodeKind::kSymlink : NodeKind::kOther;
}

// Since Linux 5.2, mincore(2) tells the truth only to the owner of a file, to CAP_FOWNER (which root is assumed to
// have), and to users who may write the file. To others it reports every page as resident.
bool MaySeePages(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return false;
  const uid_t user = ::geteuid();
  if (user == 0 || user == facts.st_uid) return true;
  // Not /proc/self: lanes have descriptor tables of their own.
  const std::string path = absl::StrCat("/proc/thread-self/fd/", fd);
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

NodeFacts FactsFrom(const struct stat& facts) {
  return {.kind = KindOf(facts.st_mode),
          .bytes = static_cast<uint64_t>(facts.st_size),
          .allocated_bytes = static_cast<uint64_t>(facts.st_blocks) * kStatBlockBytes,
          .link_count = facts.st_nlink,
          .number = facts.st_ino};
}

absl::StatusOr<std::unique_ptr<File>> LocalFile::Open(int directory_fd, const std::string& name, int flags,
                                                      std::string path) {
  // O_NONBLOCK: does not wait for a FIFO of that name.
  UniqueFd fd(::openat(directory_fd, name.c_str(), flags | O_NONBLOCK | O_CLOEXEC, 0640));
  const int error = errno;
  if (!fd.valid() && error == ELOOP && (flags & O_NOFOLLOW) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is a symbolic link"));
  }
  if (!fd.valid()) {
    return ErrnoStatus(absl::StrCat((flags & O_EXCL) != 0 ? "create " : "open ", path), error);
  }
  return From(std::move(fd), std::move(path));
}

absl::StatusOr<std::unique_ptr<File>> LocalFile::From(UniqueFd fd, std::string path) {
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

absl::Status LocalFile::WriteBackPart(WriteBack part, uint64_t offset, uint64_t bytes) {
  constexpr unsigned kAndWait =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  const unsigned flags = part == WriteBack::kBegin ? SYNC_FILE_RANGE_WRITE : kAndWait;
  if (::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes), flags) == 0 ||
      errno == ENOSYS || errno == EINVAL) {  // then Sync does all of it
    return absl::OkStatus();
  }
  return ErrnoStatus(absl::StrCat("sync_file_range ", path()), errno);
}

// File systems that support holes report them. NFS before 4.2 cannot, and its client then reports none, which looks the
// same as a file without holes.
absl::StatusOr<Holes> LocalFile::HolesIn(uint64_t begin, uint64_t end) {
  const off_t hole = ::lseek(fd_.get(), static_cast<off_t>(begin), SEEK_HOLE);
  if (hole >= 0 && static_cast<uint64_t>(hole) < end) return Holes::kSome;
  struct statfs filesystem {};
  if (::fstatfs(fd_.get(), &filesystem) != 0 || filesystem.f_type != kNfsMagic) return Holes::kNone;
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, Facts());
  return facts.allocated_bytes < facts.bytes ? Holes::kUnknown : Holes::kNone;
}

absl::StatusOr<Unstored> LocalFile::UnstoredIn(uint64_t begin, uint64_t end, WrittenBy writer) {
  struct statfs filesystem {};
  const bool on_nfs = ::fstatfs(fd_.get(), &filesystem) == 0 && filesystem.f_type == kNfsMagic;
  if (on_nfs && writer == WrittenBy::kUs) return Unstored{};
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, Facts());
  end = std::min(end, facts.bytes);
  if (begin >= end) return Unstored{};
  Unstored unstored = {.hole_bytes = HoleBytes(fd_.get(), begin, end),
                       .compressed_bytes = CompressedBytes(fd_.get(), begin, end)};
  if (on_nfs && unstored.hole_bytes == 0 && facts.allocated_bytes < facts.bytes) {
    const double missing = 1 - static_cast<double>(facts.allocated_bytes) / static_cast<double>(facts.bytes);
    unstored.compressed_bytes = static_cast<uint64_t>(missing * static_cast<double>(end - begin));
  }
  return unstored;
}

// Not posix_fallocate(), which would write data if the file system cannot allocate.
std::vector<std::string> LocalFile::StorageTargets(uint64_t begin, uint64_t end) {
  return StorageTargetsOf(fd_.get(), begin, end);
}

absl::Status LocalFile::Allocate(uint64_t offset, uint64_t bytes) {
  while (::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    const std::string what = absl::StrCat("preallocate ", bytes, " bytes of ", path());
    if (error != EOPNOTSUPP && error != ENOSYS) return ErrnoStatus(what, error);
    return absl::UnimplementedError(absl::StrCat(what, ": this file system cannot preallocate (fallocate)"));
  }
  return absl::OkStatus();
}

void LocalFile::ExpectScatteredReads() {
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);  // failure does no harm
}

absl::Status LocalFile::ForgetPages() {
  if (::fdatasync(fd_.get()) != 0) return ErrnoStatus(absl::StrCat("fdatasync ", path()), errno);
  const int error = ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
  return error == 0 ? absl::OkStatus() : ErrnoStatus(absl::StrCat("posix_fadvise ", path()), error);
}

absl::StatusOr<uint64_t> LocalFile::ResidentBytes(uint64_t begin, uint64_t end) {
  if (!MaySeePages(fd_.get())) {
    return absl::UnimplementedError(
        absl::StrCat(path(), ": only its owner and those who may write it see its pages"));
  }
  IOBENCH_ASSIGN_OR_RETURN(const NodeFacts facts, Facts());
  end = std::min(end, facts.bytes);
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t resident, CountResidentBytes(begin, end));
  struct statfs filesystem {};
  if (resident == 0 || ::fstatfs(fd_.get(), &filesystem) != 0 || filesystem.f_type != kNfsMagic)
    return resident;
  // Pages that another client has made obsolete are dropped by the next read, and not before.
  ExpectScatteredReads();
  std::byte byte{};
  IOBENCH_RETURN_IF_ERROR(ReadAt(begin, std::span(&byte, 1)).status());
  return CountResidentBytes(begin, end);
}

// Uses mincore(2) on a map that is not touched, so that no page is loaded or dropped.
absl::StatusOr<uint64_t> LocalFile::CountResidentBytes(uint64_t begin, uint64_t end) const {
  static const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr uint64_t kMappedAtOnce = uint64_t{1} << 30;
  uint64_t resident = 0;
  std::vector<unsigned char> pages;
  for (uint64_t at = begin / page_bytes * page_bytes; at < end; at += kMappedAtOnce) {
    const uint64_t bytes = std::min(kMappedAtOnce, end - at);
    void* const map =
        ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd_.get(), static_cast<off_t>(at));
    if (map == MAP_FAILED) return ErrnoStatus(absl::StrCat("map ", path()), errno);
    pages.assign((bytes + page_bytes - 1) / page_bytes, 0);
    const int error = ::mincore(map, bytes, pages.data()) == 0 ? 0 : errno;
    ::munmap(map, bytes);
    if (error != 0) return ErrnoStatus(absl::StrCat("mincore ", path()), error);
    for (size_t i = 0; i < pages.size(); ++i) {
      const uint64_t page = at + i * page_bytes;
      if ((pages[i] & 1) != 0) resident += std::min(page + page_bytes, end) - std::max(page, begin);
    }
  }
  return resident;
}

}  // namespace iobench

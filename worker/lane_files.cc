#include "worker/lane_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "worker/unique_fd.h"

namespace iobench {
namespace {

constexpr decltype(statfs::f_type) kNfsMagic = 0x6969;
constexpr uint64_t kStatBlockBytes = 512;

// What is there of one lane file.
struct Found {
  bool exists = false;
  uint64_t file_bytes = 0;
  bool sparse = false;  // shared file: not all of the lane's extent has been written
};

absl::StatusOr<UniqueFd> OpenRegular(const FileSet& files, size_t index, int flags) {
  // Not blocked by a FIFO of that name. What the user names may be a link; in our directory a link is not ours.
  const int follow = files.files[index].is_users() ? 0 : O_NOFOLLOW;
  UniqueFd fd(::openat(files.directory_fd, files.files[index].name.c_str(),
                       flags | follow | O_NONBLOCK | O_CLOEXEC, 0640));
  const std::string path = files.PathOf(index);
  if (!fd.valid()) {
    if (errno == ELOOP) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is a symbolic link, which is not ours: remove it"));
    }
    return ErrnoStatus(absl::StrCat("open ", path), errno);
  }
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return ErrnoStatus(absl::StrCat("look at ", path), errno);
  if (!S_ISREG(facts.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a regular file, and not ours: remove it"));
  }
  if (follow == O_NOFOLLOW && facts.st_nlink > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " has another name elsewhere (a hard link), so it is not ours: remove it"));
  }
  return fd;
}

// A shared file has its full length as soon as its last extent is written. Where the file system can tell holes, they
// say whether this lane's extent is there. NFS before 4.2 cannot and shows none; there the allocated blocks do.
bool IsSparse(int fd, const struct stat& facts, const LaneFile& file) {
  const auto begin = static_cast<off_t>(file.extent_offset_bytes);
  const off_t hole = ::lseek(fd, begin, SEEK_HOLE);
  if (hole >= 0 && static_cast<uint64_t>(hole) < file.end()) return true;
  struct statfs filesystem {};
  return ::fstatfs(fd, &filesystem) == 0 && filesystem.f_type == kNfsMagic &&
         static_cast<uint64_t>(facts.st_blocks) * kStatBlockBytes < static_cast<uint64_t>(facts.st_size);
}

// Whether the lane's last record, which a prefill writes last, is still zeros. Between the records of an interleaved lane
// lie those of others, who write at the same time: neither the length of the file nor its blocks, which may be longer
// than records, say what this lane has written. One record is read, so that the others are not brought into caches.
absl::StatusOr<bool> LastRecordIsEmpty(int fd, const LaneFile& file) {
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);  // nothing beside it; where it is not possible it is no loss
  std::vector<char> record(file.record_bytes);
  const off_t offset = static_cast<off_t>(file.end() - record.size());
  for (size_t size = 0; size < record.size();) {
    const ssize_t moved =
        ::pread(fd, record.data() + size, record.size() - size, offset + static_cast<off_t>(size));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus("read", errno);
    if (moved == 0) return true;
    size += static_cast<size_t>(moved);
  }
  return std::all_of(record.begin(), record.end(), [](char byte) { return byte == 0; });
}

absl::StatusOr<Found> Find(const FileSet& files, size_t index) {
  // Opened, so that an NFS client asks the server how long the file is now.
  auto fd = OpenRegular(files, index, O_RDONLY);
  if (absl::IsNotFound(fd.status())) return Found{};
  if (!fd.ok()) return fd.status();
  struct stat facts {};
  if (::fstat(fd->get(), &facts) != 0)
    return ErrnoStatus(absl::StrCat("look at ", files.PathOf(index)), errno);
  Found found{.exists = true, .file_bytes = static_cast<uint64_t>(facts.st_size)};
  const LaneFile& file = files.files[index];
  if (file.is_interleaved()) {
    auto empty = LastRecordIsEmpty(fd->get(), file);
    if (!empty.ok()) return Annotate(empty.status(), files.PathOf(index));
    found.sparse = *empty;
  } else {
    found.sparse = files.shared && IsSparse(fd->get(), facts, file);
  }
  return found;
}

bool IsWhole(const Found& found, const LaneFile& file) {
  return found.exists && found.file_bytes >= file.end() && !found.sparse;
}

absl::StatusOr<uint64_t> FillFile(const FileSet& files, size_t index, Payload& payload, const StopCell& quit,
                                  uint32_t piece_bytes) {
  const LaneFile& file = files.files[index];
  IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegular(files, index, O_WRONLY | O_CREAT));
  if (file.is_interleaved()) piece_bytes = file.record_bytes;
  uint64_t done = 0;
  while (done < file.bytes) {
    if (quit.stop.load(std::memory_order_relaxed))
      return absl::CancelledError("stopped while data were written");
    const Op op{.kind = OpKind::kWrite,
                .object = static_cast<uint32_t>(index),
                .offset = done * file.turns,
                .length = static_cast<uint32_t>(std::min<uint64_t>(piece_bytes, file.bytes - done))};
    payload.Prepare(op);
    const std::byte* const data = payload.Next(op);
    // The rest of a short write is written, so that a full disk says so.
    for (uint32_t written = 0; written < op.length;) {
      const uint64_t offset = file.extent_offset_bytes + op.offset + written;
      const ssize_t moved =
          ::pwrite(fd.get(), data + written, op.length - written, static_cast<off_t>(offset));
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0) {
        return ErrnoStatus(absl::StrCat("write ", files.PathOf(index), " at offset ", offset), errno);
      }
      written += static_cast<uint32_t>(moved);
    }
    done += op.length;
  }
  if (::fsync(fd.get()) != 0) return ErrnoStatus(absl::StrCat("fsync ", files.PathOf(index)), errno);
  return done;
}

// fallocate(), because posix_fallocate() would write where the file system cannot allocate.
absl::Status Allocate(int fd, const FileSet& files, size_t index) {
  const LaneFile& file = files.files[index];
  const uint64_t bytes = file.end() - file.extent_offset_bytes;
  while (::fallocate(fd, 0, static_cast<off_t>(file.extent_offset_bytes), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    const std::string what = absl::StrCat("preallocate ", bytes, " bytes of ", files.PathOf(index));
    if (error == EOPNOTSUPP || error == ENOSYS) {
      return absl::UnimplementedError(absl::StrCat(
          what, ": this file system cannot allocate ahead (fallocate); leave --preallocate out"));
    }
    return ErrnoStatus(what, error);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateFiles(const FileSet& files, bool preallocate, bool keep) {
  for (size_t i = 0; i < files.files.size(); ++i) {
    if (files.shared || keep) {
      IOBENCH_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegular(files, i, O_WRONLY | O_CREAT));
      if (preallocate) IOBENCH_RETURN_IF_ERROR(Allocate(fd.get(), files, i));
      continue;
    }
    const char* const name = files.files[i].name.c_str();
    if (::unlinkat(files.directory_fd, name, 0) != 0 && errno != ENOENT) {
      return ErrnoStatus(absl::StrCat("remove ", files.PathOf(i)), errno);
    }
    const UniqueFd fd(
        ::openat(files.directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
    if (!fd.valid()) return ErrnoStatus(absl::StrCat("create ", files.PathOf(i)), errno);
    if (preallocate) IOBENCH_RETURN_IF_ERROR(Allocate(fd.get(), files, i));
  }
  return absl::OkStatus();
}

absl::Status CheckDataExist(const FileSet& files) {
  for (size_t i = 0; i < files.files.size(); ++i) {
    const LaneFile& file = files.files[i];
    IOBENCH_ASSIGN_OR_RETURN(const Found found, Find(files, i));
    if (found.exists && found.file_bytes >= file.end()) continue;
    const std::string what =
        found.exists ? absl::StrCat("has ", found.file_bytes, " bytes, this run reads ", file.end())
                     : "is missing";
    if (file.is_users()) return absl::FailedPreconditionError(absl::StrCat(files.PathOf(i), " ", what));
    return absl::FailedPreconditionError(absl::StrCat("the kept data are not whole: ", files.PathOf(i), " ",
                                                      what, "; write the data anew with -i 0 -w"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Prefill(const FileSet& files, Payload& payload, const StopCell& quit,
                                 uint32_t piece_bytes) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < files.files.size(); ++i) {
    IOBENCH_ASSIGN_OR_RETURN(const Found found, Find(files, i));
    if (IsWhole(found, files.files[i])) continue;
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t filled, FillFile(files, i, payload, quit, piece_bytes));
    bytes += filled;
  }
  return bytes;
}

absl::Status ForgetPages(const FileSet& files) {
  for (size_t i = 0; i < files.files.size(); ++i) {
    auto fd = OpenRegular(files, i, O_RDONLY);
    if (absl::IsNotFound(fd.status())) continue;
    if (!fd.ok()) return fd.status();
    if (::fdatasync(fd->get()) != 0) return ErrnoStatus(absl::StrCat("fdatasync ", files.PathOf(i)), errno);
    if (const int error = ::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED); error != 0) {
      return ErrnoStatus(absl::StrCat("posix_fadvise ", files.PathOf(i)), error);
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench

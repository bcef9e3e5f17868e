#include "worker/engine/open_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/model/advice.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/unique_fd.h"
#include "worker/engine/file_lock.h"
#include "worker/rights/worker_rights.h"

namespace iobench {
namespace {

// As in IOzone, files opened for writing can also be read.
int FlagsOf(const OpenMode& mode) {
  int flags = O_CLOEXEC | (mode.write ? O_RDWR : O_RDONLY);
  if (mode.create) flags |= O_CREAT;
  if (mode.direct) flags |= O_DIRECT;
  if (mode.sync) flags |= O_SYNC;
  if (mode.dsync) flags |= O_DSYNC;
  if (mode.rsync) flags |= O_RSYNC | O_SYNC;
  return flags;
}

std::string DescribeOpen(const std::string& path, const OpenMode& mode) {
  return absl::StrCat("open ", path, mode.write ? " for writing" : " for reading",
                      mode.direct ? ", direct" : "", mode.sync ? ", sync" : "", mode.dsync ? ", dsync" : "",
                      mode.rsync ? ", rsync" : "");
}

absl::Status LockWhole(int fd, const FileSet& files, size_t index, const OpenMode& mode) {
  const LaneFile& file = files.files[index];
  const LockRange range = files.shared ? LockRange{file.extent_offset_bytes, file.bytes} : LockRange{};
  const LockAttempt attempt = TryToLock(fd, mode.write ? LockKind::kWrite : LockKind::kRead, range);
  if (attempt.errno_value == 0) return absl::OkStatus();
  if (attempt.errno_value == EAGAIN) {
    return absl::UnavailableError(absl::StrCat(
        "lock ", files.PathOf(index), ": ",
        attempt.holder_process > 0 ? absl::StrCat("process ", attempt.holder_process) : "another process",
        " has held a lock on it for ", FormatSeconds(SecondsFrom(kLockPatienceNs))));
  }
  return ErrnoStatus(absl::StrCat("lock ", files.PathOf(index)), attempt.errno_value);
}

// Opens a file that is not ours: never for writing, whatever the operation.
absl::StatusOr<UniqueFd> OpenUsers(const LaneFile& file, const OpenMode& mode) {
  const std::string what = DescribeOpen(file.name, mode);
  if (mode.write || mode.create) {
    return absl::PermissionDeniedError(absl::StrCat(what, ": existing files are only read"));
  }
  return RightsOfThisWorker().paths.Open(what, file.name, FlagsOf(mode));
}

absl::StatusOr<UniqueFd> OpenOurs(const FileSet& files, const LaneFile& file, const OpenMode& mode) {
  UniqueFd fd(::openat(files.directory_fd, file.name.c_str(), FlagsOf(mode) | O_NOFOLLOW, 0640));
  if (fd.valid()) return fd;
  const std::string what = DescribeOpen(files.directory + "/" + file.name, mode);
  if (errno != ELOOP) return ErrnoStatus(what, errno);
  return absl::FailedPreconditionError(absl::StrCat(what, ": it is a symbolic link, which is not ours"));
}

}  // namespace

int FlushDescriptor(int fd, const LaneFile& file, OpKind call) {
  switch (call) {
    case OpKind::kFdatasync:
      return ::fdatasync(fd);
    case OpKind::kSyncFileRange:
      return ::sync_file_range(fd, static_cast<off_t>(file.extent_offset_bytes),
                               static_cast<off_t>(file.end() - file.extent_offset_bytes),
                               SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    default:
      assert(call == OpKind::kFsync);
      return ::fsync(fd);
  }
}

absl::StatusOr<int> OpenLaneFile(const FileSet& files, size_t index, const OpenMode& mode,
                                 const EngineOptions& options) {
  const LaneFile& file = files.files[index];
  // A user's file may be a symbolic link; one of ours that has become a link is no longer ours.
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd,
                           file.is_users() ? OpenUsers(file, mode) : OpenOurs(files, file, mode));
  if (!options.advice.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const int advice, FileAdvice(options.advice));
    if (const int error = ::posix_fadvise(fd.get(), 0, 0, advice); error != 0) {
      return ErrnoStatus(absl::StrCat("posix_fadvise ", files.PathOf(index)), error);
    }
  }
  if (options.file_lock) IOBENCH_RETURN_IF_ERROR(LockWhole(fd.get(), files, index, mode));
  return fd.Release();
}

absl::Status OpenFiles::Open(const FileSet& files, const OpenMode& mode) {
  IOBENCH_RETURN_IF_ERROR(Close());
  files_ = &files;
  open_.reserve(files.files.size());
  for (size_t i = 0; i < files.files.size(); ++i) {
    const absl::StatusOr<int> fd = OpenLaneFile(files, i, mode, options_);
    if (!fd.ok()) {
      Close().IgnoreError();
      return fd.status();
    }
    open_.push_back({.fd = *fd, .extent_offset_bytes = files.files[i].extent_offset_bytes});
  }
  return absl::OkStatus();
}

absl::Status OpenFiles::Flush(CallTimer* timer) {
  absl::Status first_error;
  for (size_t i = 0; i < open_.size(); ++i) first_error.Update(FlushFile(i, OpKind::kFsync, timer));
  return first_error;
}

absl::Status OpenFiles::FlushFile(size_t index, OpKind call, CallTimer* timer) {
  const int fd = open_[index].fd;
  if (Timed(timer, call, [&] { return FlushDescriptor(fd, files_->files[index], call); }) == 0)
    return absl::OkStatus();
  return ErrnoStatus(absl::StrCat(NameOf(call), " ", PathOf(index)), errno);
}

absl::Status OpenFiles::Close(CallTimer* timer) {
  absl::Status first_error;
  for (size_t i = 0; i < open_.size(); ++i) {
    // Linux closes the descriptor even if close() reports an error, so it must not be repeated: the number may already
    // be in use again.
    if (Timed(timer, OpKind::kClose, [&] { return ::close(open_[i].fd); }) != 0) {
      first_error.Update(ErrnoStatus(absl::StrCat("close ", PathOf(i)), errno));
    }
  }
  open_.clear();
  return first_error;
}

}  // namespace iobench

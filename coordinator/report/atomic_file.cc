#include "coordinator/report/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "coordinator/report/descriptor_buffer.h"

namespace iobench {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

absl::Status Fill(int fd, const std::string& path, absl::FunctionRef<absl::Status(std::ostream&)> write,
                  Durable durable) {
  DescriptorBuffer buffer(fd);
  std::ostream out(&buffer);
  absl::Status filled = write(out);
  out.flush();
  if (buffer.errno_value() != 0) return ErrnoStatus(absl::StrCat("write ", path), buffer.errno_value());
  if (!filled.ok()) return filled;
  if (durable == Durable::kNow && ::fsync(fd) != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
  return absl::OkStatus();
}

}  // namespace

// The new name must survive a crash too. Some network file systems refuse to fsync a directory (EINVAL, EBADF); there
// the rename is as durable as they make it.
absl::Status SyncDirectory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(absl::StrCat("open ", directory), errno);
  const absl::Cleanup close_directory = [fd] { ::close(fd); };
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EBADF) {
    return ErrnoStatus(absl::StrCat("fsync ", directory), errno);
  }
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write, Durable durable) {
  const std::string partial = path + kPartialSuffix;
  IOBENCH_ASSIGN_OR_RETURN(const OwnFile place, OwnFile::At(path));
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, place.CreatePartial());
  absl::Cleanup remove_partial = [&place] { place.RemovePartial(); };
  const absl::Status filled = Fill(fd.get(), partial, write, durable);
  const int close_result = ::close(fd.Release());
  const int close_errno = errno;
  IOBENCH_RETURN_IF_ERROR(filled);
  if (close_result != 0) return ErrnoStatus(absl::StrCat("close ", partial), close_errno);
  IOBENCH_RETURN_IF_ERROR(place.Publish());
  std::move(remove_partial).Cancel();
  return durable == Durable::kNow ? SyncDirectory(DirectoryOf(path)) : absl::OkStatus();
}

absl::Status PutAside(const std::string& path) {
  const std::string aside = path + ".not-ours";
  std::error_code failed;
  if (std::filesystem::exists(std::filesystem::symlink_status(aside, failed))) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " and ", aside, " are no files of this program: move them away, and try again"));
  }
  if (::rename(path.c_str(), aside.c_str()) != 0) return ErrnoStatus(absl::StrCat("rename to ", aside), errno);
  LogWarning(absl::StrCat(path, " was damaged or is not ours, and is written anew; what was there is now ", aside));
  return absl::OkStatus();
}

absl::Status CheckOutputFile(const std::string& path, bool replace) {
  std::error_code failed;
  const auto there = std::filesystem::symlink_status(path, failed);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output ", path, " is not a regular file: name another one"));
  }
  if (std::filesystem::exists(there) && !replace) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " exists: name another file with --output, or replace it with --force"));
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (::access(parent.empty() ? "." : parent.c_str(), W_OK) != 0) return ErrnoStatus(absl::StrCat("--output ", path), errno);
  IOBENCH_ASSIGN_OR_RETURN(const OwnDirectory directory, OwnDirectory::Open(parent.empty() ? "." : parent));
  return Annotate(directory.Check(), absl::StrCat("--output ", path));
}

}  // namespace iobench

#include "coordinator/report/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/text/log.h"
#include "coordinator/files/files.h"
#include "coordinator/report/descriptor_buffer.h"

namespace iobench {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

absl::Status Fill(const files::HeldFile& file, const std::string& path, absl::FunctionRef<absl::Status(std::ostream&)> write,
                  Durable durable) {
  DescriptorBuffer buffer(file);
  std::ostream out(&buffer);
  absl::Status filled = write(out);
  out.flush();
  if (buffer.errno_value() != 0) return ErrnoStatus(absl::StrCat("write ", path), buffer.errno_value());
  if (!filled.ok()) return filled;
  if (durable == Durable::kNow && files::Sync(file) != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
  return absl::OkStatus();
}

}  // namespace

// The new name must survive a crash too. Some network file systems refuse to fsync a directory (EINVAL, EBADF); there
// the rename is as durable as they make it.
absl::Status SyncDirectory(const std::string& directory) {
  const files::HeldFile opened = files::Open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!opened.valid()) return ErrnoStatus(absl::StrCat("open ", directory), errno);
  if (files::Sync(opened) != 0 && errno != EINVAL && errno != EBADF) {
    return ErrnoStatus(absl::StrCat("fsync ", directory), errno);
  }
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write, Durable durable) {
  const std::string partial = path + kPartialSuffix;
  files::Remove(partial);  // left by a crash
  absl::StatusOr<files::HeldFile> file = files::CreateNew(partial);
  if (!file.ok()) return file.status();
  absl::Cleanup remove_partial = [&partial] { files::Remove(partial); };
  const absl::Status filled = Fill(*file, partial, write, durable);
  const int close_result = files::Close(*std::move(file));
  const int close_errno = errno;
  IOBENCH_RETURN_IF_ERROR(filled);
  if (close_result != 0) return ErrnoStatus(absl::StrCat("close ", partial), close_errno);
  if (files::Rename(partial, path) != 0)
    return ErrnoStatus(absl::StrCat("rename to ", path), errno);
  std::move(remove_partial).Cancel();
  return durable == Durable::kNow ? SyncDirectory(DirectoryOf(path)) : absl::OkStatus();
}

absl::Status PutAside(const std::string& path) {
  const std::string aside = path + ".not-ours";
  if (files::Stat(aside, files::Links::kShow).has_value()) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " and ", aside, " are no files of this program: move them away, and try again"));
  }
  if (files::Rename(path, aside) != 0) return ErrnoStatus(absl::StrCat("rename to ", aside), errno);
  LogWarning(absl::StrCat(path, " was damaged or is not ours, and is written anew; what was there is now ", aside));
  return absl::OkStatus();
}

absl::Status CheckOutputFile(const std::string& path, bool replace) {
  const std::optional<struct stat> there = files::Stat(path, files::Links::kShow);
  IOBENCH_RETURN_IF_ERROR(there.has_value() ? absl::OkStatus() : files::UnansweredCall(absl::StrCat("--output ", path), errno));
  if (there.has_value() && !S_ISREG(there->st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output ", path, " is not a regular file: name another one"));
  }
  if (there.has_value() && !replace) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " exists: name another file with --output, or replace it with --force"));
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  if (files::Access(directory, W_OK) != 0) return ErrnoStatus(absl::StrCat("--output ", path), errno);
  return Annotate(files::CheckOwnDirectory(directory), absl::StrCat("--output ", path));
}

}  // namespace iobench

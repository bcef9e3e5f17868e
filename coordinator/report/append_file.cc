#include "coordinator/report/append_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/report/descriptor_buffer.h"

namespace iobench {

absl::StatusOr<AppendFile> AppendFile::Create(const std::string& path) {
  absl::StatusOr<files::HeldFile> file = files::CreateNew(path);
  if (!file.ok()) return file.status();
  return AppendFile(*std::move(file));
}

absl::StatusOr<AppendFile> AppendFile::CreateNameless(const std::string& path) {
  files::Remove(path);  // left by a crash while it had a name
  absl::StatusOr<AppendFile> file = Create(path);
  if (file.ok() && files::Remove(path) != 0) return ErrnoStatus(absl::StrCat("remove ", path), errno);
  return file;
}

absl::Status AppendFile::Append(absl::FunctionRef<absl::Status(std::ostream&)> write) {
  DescriptorBuffer buffer(file_);
  std::ostream out(&buffer);
  absl::Status appended = write(out);
  out.flush();
  if (buffer.errno_value() != 0) {
    appended = ErrnoStatus(absl::StrCat("write ", file_.path()), buffer.errno_value());
  }
  const int64_t end = files::Position(file_);
  if (appended.ok() && end >= 0) {
    bytes_ = static_cast<uint64_t>(end);
    return appended;
  }
  if (appended.ok()) return ErrnoStatus(absl::StrCat("seek in ", file_.path()), errno);
  if (files::Truncate(file_, bytes_) != 0) {
    return Annotate(appended, absl::StrCat(file_.path(), " may end in the middle of a line"));
  }
  return appended;
}

absl::Status AppendFile::CopyTo(std::ostream& out) const {
  std::array<char, 64 * 1024> piece;
  for (uint64_t offset = 0; offset < bytes_;) {
    const ssize_t got = files::ReadAt(file_, piece.data(), std::min<uint64_t>(piece.size(), bytes_ - offset), offset);
    if (got < 0) return ErrnoStatus(absl::StrCat("read ", file_.path()), errno);
    if (got == 0) return absl::DataLossError(absl::StrCat(file_.path(), ": another process truncated it"));
    out.write(piece.data(), got);
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::Status AppendFile::Sync() const {
  return files::Sync(file_) == 0 ? absl::OkStatus() : ErrnoStatus(absl::StrCat("fsync ", file_.path()), errno);
}

}  // namespace iobench

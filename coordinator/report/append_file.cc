#include "coordinator/report/append_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/report/descriptor_buffer.h"

namespace iobench {

absl::StatusOr<AppendFile> AppendFile::Create(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const OwnFile place, OwnFile::At(path));
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, place.CreateNew());
  return AppendFile(path, std::move(fd));
}

absl::StatusOr<AppendFile> AppendFile::CreatePartial(const OwnFile& place) {
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, place.CreatePartial());
  return AppendFile(place.path() + kPartialSuffix, std::move(fd));
}

absl::StatusOr<AppendFile> AppendFile::CreateNameless(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const OwnFile place, OwnFile::At(path));
  IOBENCH_RETURN_IF_ERROR(place.Remove());  // left by a crash while it had a name
  IOBENCH_ASSIGN_OR_RETURN(UniqueFd fd, place.CreateNew());
  IOBENCH_RETURN_IF_ERROR(place.Remove());
  return AppendFile(path, std::move(fd));
}

absl::Status AppendFile::Append(absl::FunctionRef<absl::Status(std::ostream&)> write) {
  DescriptorBuffer buffer(fd_.get());
  std::ostream out(&buffer);
  absl::Status appended = write(out);
  out.flush();
  if (buffer.errno_value() != 0) {
    appended = ErrnoStatus(absl::StrCat("write ", path_), buffer.errno_value());
  }
  const off_t end = ::lseek(fd_.get(), 0, SEEK_CUR);
  if (appended.ok() && end >= 0) {
    bytes_ = static_cast<uint64_t>(end);
    return appended;
  }
  if (appended.ok()) return ErrnoStatus(absl::StrCat("seek in ", path_), errno);
  const auto before = static_cast<off_t>(bytes_);
  if (::ftruncate(fd_.get(), before) != 0 || ::lseek(fd_.get(), before, SEEK_SET) < 0) {
    return Annotate(appended, absl::StrCat(path_, " may end in the middle of a line"));
  }
  return appended;
}

absl::Status AppendFile::CopyTo(std::ostream& out) const {
  std::array<char, 64 * 1024> piece;
  for (uint64_t offset = 0; offset < bytes_;) {
    const ssize_t got = ::pread(fd_.get(), piece.data(), std::min<uint64_t>(piece.size(), bytes_ - offset),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(absl::StrCat("read ", path_), errno);
    if (got == 0) return absl::DataLossError(absl::StrCat(path_, ": another process truncated it"));
    out.write(piece.data(), got);
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::Status AppendFile::Sync() const {
  return ::fsync(fd_.get()) == 0 ? absl::OkStatus() : ErrnoStatus(absl::StrCat("fsync ", path_), errno);
}

}  // namespace iobench

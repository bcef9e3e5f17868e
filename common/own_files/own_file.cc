#include "common/own_files/own_file.h"

#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::StatusOr<OwnFile> OwnFile::At(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory_path = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  absl::StatusOr<OwnDirectory> directory = OwnDirectory::Open(directory_path);
  if (!directory.ok()) {
    const int error = ErrnoOf(directory.status());
    return error != 0 ? ErrnoStatus(absl::StrCat("create ", path), error) : directory.status();
  }
  return OwnFile(path, slash == std::string::npos ? path : path.substr(slash + 1), *std::move(directory));
}

absl::StatusOr<UniqueFd> OwnFile::Create(const std::string& suffix, mode_t mode, int flags) const {
  absl::StatusOr<UniqueFd> file = directory_.Create(absl::StrCat(name_, suffix), mode, flags);
  if (file.ok()) return file;
  const int error = ErrnoOf(file.status());
  return error != 0 ? ErrnoStatus(absl::StrCat("create ", path_, suffix), error) : file.status();
}

absl::StatusOr<UniqueFd> OwnFile::CreateNew(mode_t mode, int flags) const {
  return Create("", mode, flags);
}

absl::StatusOr<UniqueFd> OwnFile::CreatePartial(mode_t mode, int flags) const {
  RemovePartial();
  return Create(kPartialSuffix, mode, flags);
}

absl::Status OwnFile::Publish() const {
  const std::string partial = name_ + kPartialSuffix;
  if (::renameat(directory_.fd(), partial.c_str(), directory_.fd(), name_.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("rename to ", path_), errno);
}

void OwnFile::RemovePartial() const {
  ::unlinkat(directory_.fd(), (name_ + kPartialSuffix).c_str(), 0);
}

absl::Status OwnFile::Remove() const {
  if (::unlinkat(directory_.fd(), name_.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("remove ", path_), errno);
}

}  // namespace iobench

#include "worker/check/trial/trial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {

absl::StatusOr<TrialFile> TrialFile::New(const TrialPlace& place, const char* suffix) {
  std::string name = place.Name(suffix);
  UniqueFd fd(
      ::openat(place.directory_fd, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("create ", place.PathOf(name)), errno);
  return TrialFile(place, std::move(name), std::move(fd));
}

TrialFile::TrialFile(const TrialPlace& place, std::string name, UniqueFd fd)
    : place_(&place), name_(std::move(name)), fd_(std::move(fd)) {}

TrialFile::TrialFile(TrialFile&& other) noexcept
    : place_(std::exchange(other.place_, nullptr)),
      name_(std::move(other.name_)),
      fd_(std::move(other.fd_)) {}

// Closed first: an NFS client would keep a file that is open under another name.
TrialFile::~TrialFile() {
  if (place_ == nullptr) return;
  fd_ = UniqueFd();
  ::unlinkat(place_->directory_fd, name_.c_str(), 0);
}

absl::Status TrialFile::Failed(const char* call, int error) const {
  return ErrnoStatus(absl::StrCat(call, " ", path()), error);
}

absl::Status TrialFile::Write(std::string_view bytes, int64_t offset) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd(), bytes.data(), bytes.size(), offset);
    if (written <= 0) return Failed("write", written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
  return absl::OkStatus();
}

absl::Status TrialFile::Flush() const {
  return ::fsync(fd()) == 0 ? absl::OkStatus() : Failed("fsync", errno);
}

absl::StatusOr<std::string> TrialFile::Read(int64_t offset, size_t bytes) const {
  std::string got(bytes, '\0');
  size_t done = 0;
  while (done < bytes) {
    const ssize_t read = ::pread(fd(), got.data() + done, bytes - done, offset + static_cast<int64_t>(done));
    if (read < 0) return Failed("read", errno);
    if (read == 0) break;
    done += static_cast<size_t>(read);
  }
  got.resize(done);
  return got;
}

absl::StatusOr<struct stat> TrialFile::Look() const {
  struct stat seen {};
  if (::fstat(fd(), &seen) != 0) return Failed("look at", errno);
  return seen;
}

}  // namespace iobench

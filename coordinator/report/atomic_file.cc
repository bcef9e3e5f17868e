#include "coordinator/report/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <streambuf>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// A stream into a descriptor that remembers errno: std::ofstream would lose why a disk refused the bytes.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  int errno_value() const { return errno_value_; }

 protected:
  int sync() override {
    const char* from = pbase();
    while (from < pptr() && errno_value_ == 0) {
      const ssize_t written = ::write(fd_, from, static_cast<size_t>(pptr() - from));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        errno_value_ = errno;
      } else {
        from += written;
      }
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return errno_value_ == 0 ? 0 : -1;
  }

  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  const int fd_;
  int errno_value_ = 0;
  std::array<char, 64 * 1024> buffer_;
};

// The new name must survive a crash as well. Some network file systems refuse to fsync a directory (EINVAL, EBADF):
// there the rename is as durable as they make it.
absl::Status SyncDirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(absl::StrCat("open ", directory), errno);
  const absl::Cleanup close_directory = [fd] { ::close(fd); };
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EBADF) {
    return ErrnoStatus(absl::StrCat("fsync ", directory), errno);
  }
  return absl::OkStatus();
}

absl::Status FillAndSync(int fd, const std::string& path,
                         absl::FunctionRef<absl::Status(std::ostream&)> write) {
  DescriptorBuffer buffer(fd);
  std::ostream out(&buffer);
  absl::Status filled = write(out);
  out.flush();
  if (buffer.errno_value() != 0) return ErrnoStatus(absl::StrCat("write ", path), buffer.errno_value());
  if (!filled.ok()) return filled;
  if (::fsync(fd) != 0) return ErrnoStatus(absl::StrCat("fsync ", path), errno);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::FunctionRef<absl::Status(std::ostream&)> write) {
  const std::string partial = path + kPartialSuffix;
  ::unlink(partial.c_str());  // O_EXCL below: never through a link that somebody laid there
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(absl::StrCat("create ", partial), errno);
  absl::Cleanup remove_partial = [&partial] { ::unlink(partial.c_str()); };
  const absl::Status filled = FillAndSync(fd, partial, write);
  const int close_result = ::close(fd);
  const int close_errno = errno;
  IOBENCH_RETURN_IF_ERROR(filled);
  if (close_result != 0) return ErrnoStatus(absl::StrCat("close ", partial), close_errno);
  if (::rename(partial.c_str(), path.c_str()) != 0)
    return ErrnoStatus(absl::StrCat("rename to ", path), errno);
  std::move(remove_partial).Cancel();
  return SyncDirectoryOf(path);
}

}  // namespace iobench

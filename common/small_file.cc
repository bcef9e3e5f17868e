#include "common/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/file_kind.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint64_t kFirstReadBytes = 64 * 1024;  // for files that do not report their size, as in /proc

absl::Status NotRegular(const std::string& name, mode_t mode) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": not a regular file, but ", std::string(KindOfFile(mode))));
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& what, const std::string& file,
                                          uint64_t max_bytes) {
  const std::string name = absl::StrCat(what, " ", file);
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENXIO) return NotRegular(name, S_IFSOCK);
  if (fd < 0) return ErrnoStatus(name, errno);
  const absl::Cleanup closer = [fd] { ::close(fd); };
  return ReadSmallFile(name, fd, max_bytes);
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& name, int fd, uint64_t max_bytes) {
  const auto too_long = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": it is longer than ", FormatBytes(static_cast<double>(max_bytes))));
  };
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return ErrnoStatus(name, errno);
  if (!S_ISREG(facts.st_mode)) return NotRegular(name, facts.st_mode);
  const uint64_t said_bytes = static_cast<uint64_t>(facts.st_size);
  if (said_bytes > max_bytes) return too_long();
  try {
    std::string text;
    for (uint64_t size = 0;;) {
      if (size == text.size()) {
        // Reading one byte more than expected shows whether the file ends there.
        text.resize(std::min(max_bytes, std::max({size * 2, said_bytes, kFirstReadBytes})) + 1);
      }
      const ssize_t moved = ::read(fd, text.data() + size, text.size() - size);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0) return ErrnoStatus(name, errno);
      size += static_cast<uint64_t>(moved);
      if (size > max_bytes) return too_long();
      if (moved > 0) continue;
      text.resize(size);
      return text;
    }
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, ": no memory for its ", FormatBytes(static_cast<double>(said_bytes))));
  }
}

}  // namespace iobench

#include "common/digest/file_parts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr size_t kPartBytes = 256 * 1024;  // stays in the L2 cache between reading and hashing

}  // namespace

absl::Status ReadInParts(const std::string& path, absl::FunctionRef<void(std::string_view part)> take) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(absl::StrCat("open ", path), errno);
  const absl::Cleanup close_file = [fd] { ::close(fd); };
  std::vector<char> part(kPartBytes);
  while (true) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count == 0) return absl::OkStatus();
    if (count < 0 && errno != EINTR) return ErrnoStatus(absl::StrCat("read ", path), errno);
    if (count > 0) take({part.data(), static_cast<size_t>(count)});
  }
}

}  // namespace iobench

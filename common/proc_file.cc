#include "common/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/unique_fd.h"

namespace iobench {

std::optional<std::string> ReadWholeFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string text;
  size_t size = 0;
  for (;;) {
    text.resize(size + 16 * 1024);
    const ssize_t moved = ::read(fd.get(), text.data() + size, text.size() - size);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return std::nullopt;
    size += static_cast<size_t>(moved);
    if (moved == 0) {
      text.resize(size);
      return text;
    }
  }
}

}  // namespace iobench

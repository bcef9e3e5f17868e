#include "coordinator/report/file_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "common/unique_fd.h"
#include "coordinator/report/report_format.h"

namespace iobench {

std::optional<std::string> FileHead(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::string head(ReportFormat::kHeadBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const ssize_t moved = ::read(file.get(), head.data() + size, head.size() - size);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return std::nullopt;
    if (moved == 0) break;
    size += static_cast<size_t>(moved);
  }
  head.resize(size);
  return head;
}

}  // namespace iobench

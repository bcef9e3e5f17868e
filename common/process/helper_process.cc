#include "common/process/helper_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"

namespace iobench {

// The arguments lie between the addresses in fields 48 and 49 of stat.
void SetProcessName(const char* name, std::string_view title) {
  ::prctl(PR_SET_NAME, name);
  const std::optional<std::string> stat = ReadWholeFile("/proc/self/stat");
  if (!stat || stat->rfind(')') == std::string::npos) return;
  const std::vector<std::string> fields =
      absl::StrSplit(stat->substr(stat->rfind(')') + 1), ' ', absl::SkipEmpty());
  constexpr size_t kBegin = 45, kEnd = 46;  // counted from the field after the name
  uint64_t begin = 0, end = 0;
  if (fields.size() <= kEnd || !absl::SimpleAtoi(fields[kBegin], &begin) ||
      !absl::SimpleAtoi(fields[kEnd], &end) || begin == 0 || end <= begin) {
    return;
  }
  char* const arguments = reinterpret_cast<char*>(begin);  // NOLINT(performance-no-int-to-ptr)
  const size_t bytes = end - begin;
  std::memset(arguments, 0, bytes);
  std::memcpy(arguments, title.data(), std::min(bytes - 1, title.size()));
}

void CloseAllBut(int kept) {
  std::vector<int> open;
  if (DIR* const own = ::opendir("/proc/self/fd"); own != nullptr) {
    while (const dirent* const entry = ::readdir(own)) {
      int fd = 0;
      if (absl::SimpleAtoi(entry->d_name, &fd) && fd != kept && fd != ::dirfd(own)) open.push_back(fd);
    }
    ::closedir(own);
  }
  for (const int fd : open) ::close(fd);
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0 && fd < STDERR_FILENO;) fd = ::dup(fd);
}

}  // namespace iobench

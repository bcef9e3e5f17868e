#include "common/process/usable_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/proc_file.h"
#include "common/process/cgroup_limits.h"

namespace iobench {

UsableMemory MemoryOfThisProcess(const std::string& root) {
  UsableMemory memory;
  struct sysinfo host {};
  if (::sysinfo(&host) == 0) memory.host_bytes = uint64_t{host.totalram} * host.mem_unit;
  memory.bytes = memory.host_bytes;
  const MemoryLimit limit = ReadMemoryLimit(root);
  if (!limit.max_bytes || (memory.host_bytes > 0 && *limit.max_bytes >= memory.host_bytes)) return memory;
  memory.bytes = *limit.max_bytes;
  memory.group = limit.group;
  return memory;
}

uint64_t AvailableMemoryBytes(const std::string& root) {
  uint64_t available_bytes = 0;
  const std::string text = ReadWholeFile(absl::StrCat(root, "/proc/meminfo")).value_or("");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t kib = 0;
    if (fields.size() >= 2 && fields[0] == "MemAvailable:" && absl::SimpleAtoi(fields[1], &kib)) {
      available_bytes = kib * 1024;
    }
  }
  const std::optional<uint64_t> in_groups = ReadMemoryLimit(root).available_bytes;
  // 0 means unknown, so a limit that is reached leaves 1.
  if (in_groups && available_bytes > 0) available_bytes = std::min(available_bytes, std::max<uint64_t>(1, *in_groups));
  return available_bytes;
}

}  // namespace iobench

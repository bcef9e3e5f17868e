#include "worker/client/processor_caches.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/proc_file.h"

namespace iobench {
namespace {

std::string LineIn(const std::string& path) {
  std::string text = ReadWholeFile(path).value_or("");
  absl::StripAsciiWhitespace(&text);
  return text;
}

// "2048K"; the kernel prints caches in no other unit.
uint64_t BytesOfCache(std::string text) {
  if (text.empty() || text.back() != 'K') return 0;
  text.pop_back();
  uint64_t kibibytes = 0;
  return absl::SimpleAtoi(text, &kibibytes) ? kibibytes * 1024 : 0;
}

// glibc knows some processors without sysfs, as in a chroot; -1 and 0 mean that it does not.
uint64_t BytesFromSysconf(int name) {
  return static_cast<uint64_t>(std::max<long>(0, ::sysconf(name)));
}

}  // namespace

ProcessorCaches CachesIn(const std::string& directory) {
  ProcessorCaches caches;
  for (int index = 0;; ++index) {
    const std::string cache = absl::StrCat(directory, "/index", index);
    const std::string level = LineIn(cache + "/level");
    if (level.empty()) return caches;
    if (LineIn(cache + "/type") == "Instruction") continue;
    if (level == "2") caches.l2_bytes = BytesOfCache(LineIn(cache + "/size"));
    if (level == "3") caches.l3_bytes = BytesOfCache(LineIn(cache + "/size"));
  }
}

ProcessorCaches CachesOfThisHost() {
  ProcessorCaches caches = CachesIn("/sys/devices/system/cpu/cpu0/cache");
  if (caches.l2_bytes == 0) caches.l2_bytes = BytesFromSysconf(_SC_LEVEL2_CACHE_SIZE);
  if (caches.l3_bytes == 0) caches.l3_bytes = BytesFromSysconf(_SC_LEVEL3_CACHE_SIZE);
  return caches;
}

}  // namespace iobench

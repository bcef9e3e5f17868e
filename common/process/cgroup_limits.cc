#include "common/process/cgroup_limits.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/proc_file.h"
#include "common/process/cgroup.h"
#include "common/text/units.h"

namespace iobench {
namespace {

absl::string_view Plain(std::string_view text) {
  return absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
}

std::vector<std::vector<absl::string_view>> WordsOfLines(std::string_view text) {
  std::vector<std::vector<absl::string_view>> lines;
  for (const absl::string_view line : absl::StrSplit(Plain(text), '\n', absl::SkipEmpty())) {
    lines.push_back(absl::StrSplit(line, ' ', absl::SkipEmpty()));
  }
  return lines;
}

std::optional<uint64_t> NumberIn(absl::string_view word) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
  return number;
}

// The number of the first line "KEY NUMBER".
std::optional<uint64_t> NumberNamed(std::string_view text, std::string_view key) {
  for (const std::vector<absl::string_view>& words : WordsOfLines(text)) {
    if (words.size() >= 2 && words[0] == absl::string_view(key.data(), key.size())) return NumberIn(words[1]);
  }
  return std::nullopt;
}

std::optional<std::string> FileOf(const Cgroup& group, const char* name) {
  return ReadWholeFile(absl::StrCat(group.directory, "/", name));
}

IoAmounts ParseIoLines(std::string_view text, const std::array<const char*, 4>& names) {
  IoAmounts amounts;
  for (const std::vector<absl::string_view>& words : WordsOfLines(text)) {
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<absl::string_view, absl::string_view> field = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      const auto found = std::find(names.begin(), names.end(), field.first);
      const std::optional<uint64_t> number = NumberIn(field.second);
      if (found == names.end() || !number) continue;  // "max", or a field of a later kernel
      const auto kind = static_cast<size_t>(found - names.begin());
      amounts[{std::string(words[0]), kind % 2 == 1, kind >= 2}] = *number;
    }
  }
  return amounts;
}

// The limits of one group of v2, or of v1.
void AddIoLimits(const Cgroup& group, std::map<IoLimitKey, IoLimit>& limits) {
  const auto add = [&](const std::string& device, bool writes, bool ops, uint64_t limit, const IoAmounts& used) {
    if (limit == 0) return;
    const auto amount = used.find({device, writes, ops});
    limits[{group.directory, device, writes, ops}] = {static_cast<double>(limit),
                                                      amount == used.end() ? 0 : amount->second};
  };
  if (const std::optional<std::string> io_max = FileOf(group, "io.max")) {
    const IoAmounts limited = ParseIoMax(*io_max);
    if (limited.empty()) return;
    const IoAmounts used = ParseIoStat(FileOf(group, "io.stat").value_or(""));
    for (const auto& [key, limit] : limited) {
      add(std::get<0>(key), std::get<1>(key), std::get<2>(key), limit, used);
    }
    return;
  }
  for (const bool ops : {false, true}) {
    for (const bool writes : {false, true}) {
      const std::string name =
          absl::StrCat("blkio.throttle.", writes ? "write" : "read", ops ? "_iops_device" : "_bps_device");
      const auto limited = ParseDeviceLimits(FileOf(group, name.c_str()).value_or(""));
      if (limited.empty()) continue;
      IoAmounts used;
      const char* const counter = ops ? "blkio.throttle.io_serviced" : "blkio.throttle.io_service_bytes";
      for (const auto& [key, amount] : ParseBlkioAmounts(FileOf(group, counter).value_or(""))) {
        used[{key.first, key.second, ops}] = amount;
      }
      for (const auto& [device, limit] : limited) add(device, writes, ops, limit, used);
    }
  }
}

std::optional<uint64_t> MaxOf(const Cgroup& group) {
  std::optional<std::string> text = FileOf(group, "memory.max");
  if (!text) text = FileOf(group, "memory.limit_in_bytes");
  return text ? ParseMemoryMax(*text) : std::nullopt;
}

std::optional<uint64_t> UsedBy(const Cgroup& group) {
  std::optional<std::string> text = FileOf(group, "memory.current");
  if (!text) text = FileOf(group, "memory.usage_in_bytes");
  return text ? NumberIn(Plain(*text)) : std::nullopt;
}

// Pages of files, which the kernel takes back when the group needs memory: of the whole group, on v1 "total_…".
uint64_t ReclaimableIn(const Cgroup& group) {
  const std::string stat = FileOf(group, "memory.stat").value_or("");
  uint64_t bytes = 0;
  for (const char* const name : {"inactive_file", "active_file"}) {
    const std::optional<uint64_t> total = NumberNamed(stat, absl::StrCat("total_", name));
    bytes += total ? *total : NumberNamed(stat, name).value_or(0);
  }
  return bytes;
}

}  // namespace

std::optional<double> ParseCpuMax(std::string_view cpu_max) {
  const std::vector<absl::string_view> words = absl::StrSplit(Plain(cpu_max), ' ', absl::SkipEmpty());
  if (words.size() < 2) return std::nullopt;
  return ParseCfsQuota(std::string(words[0]), std::string(words[1]));
}

std::optional<double> ParseCfsQuota(std::string_view quota_us, std::string_view period_us) {
  const std::optional<uint64_t> quota = NumberIn(Plain(quota_us));  // "max" and -1 are none
  const std::optional<uint64_t> period = NumberIn(Plain(period_us));
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<CpuQuota> ParseCpuStat(std::string_view cpu_stat) {
  const std::optional<uint64_t> periods = NumberNamed(cpu_stat, "nr_periods");
  const std::optional<uint64_t> throttled = NumberNamed(cpu_stat, "nr_throttled");
  const std::optional<uint64_t> usec = NumberNamed(cpu_stat, "throttled_usec");
  const std::optional<uint64_t> ns = NumberNamed(cpu_stat, "throttled_time");
  if (!periods || !throttled || (!usec && !ns)) return std::nullopt;
  return CpuQuota{.periods = *periods,
                  .throttled_periods = *throttled,
                  .throttled_s = usec ? static_cast<double>(*usec) / 1e6 : static_cast<double>(*ns) / 1e9};
}

IoAmounts ParseIoMax(std::string_view io_max) {
  return ParseIoLines(io_max, {"rbps", "wbps", "riops", "wiops"});
}

IoAmounts ParseIoStat(std::string_view io_stat) {
  return ParseIoLines(io_stat, {"rbytes", "wbytes", "rios", "wios"});
}

std::map<std::string, uint64_t> ParseDeviceLimits(std::string_view text) {
  std::map<std::string, uint64_t> limits;
  for (const std::vector<absl::string_view>& words : WordsOfLines(text)) {
    if (words.size() != 2) continue;
    if (const std::optional<uint64_t> limit = NumberIn(words[1])) limits[std::string(words[0])] = *limit;
  }
  return limits;
}

std::map<std::pair<std::string, bool>, uint64_t> ParseBlkioAmounts(std::string_view text) {
  std::map<std::pair<std::string, bool>, uint64_t> amounts;
  for (const std::vector<absl::string_view>& words : WordsOfLines(text)) {
    if (words.size() != 3 || (words[1] != "Read" && words[1] != "Write")) continue;
    if (const std::optional<uint64_t> amount = NumberIn(words[2]))
      amounts[{std::string(words[0]), words[1] == "Write"}] = *amount;
  }
  return amounts;
}

std::optional<uint64_t> ParseMemoryMax(std::string_view text) {
  // v1 has no word for "no limit", but the largest number of whole pages.
  constexpr uint64_t kNoLimit = uint64_t{1} << 60;
  const std::optional<uint64_t> bytes = NumberIn(Plain(text));
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

namespace {

std::map<std::string, CpuQuota> CpuQuotasOf(const CgroupsHere& here) {
  std::map<std::string, CpuQuota> quotas;
  for (const Cgroup& group : here.Of("cpu")) {
    const std::optional<std::string> cpu_max = FileOf(group, "cpu.max");
    const std::optional<double> processors =
        cpu_max ? ParseCpuMax(*cpu_max)
                : ParseCfsQuota(FileOf(group, "cpu.cfs_quota_us").value_or(""),
                                FileOf(group, "cpu.cfs_period_us").value_or(""));
    if (!processors) continue;
    CpuQuota quota = ParseCpuStat(FileOf(group, "cpu.stat").value_or("")).value_or(CpuQuota());
    quota.processors = *processors;
    quotas[group.directory] = quota;
  }
  return quotas;
}

std::optional<uint64_t> OomKillsOf(const CgroupsHere& here) {
  const std::vector<Cgroup> groups = here.Of("memory");
  if (groups.empty()) return std::nullopt;
  // The count of a group includes those below it, but a killed process counts in its own group, whichever group above
  // had used up its memory.
  std::optional<std::string> text = FileOf(groups.front(), "memory.events");
  if (!text) text = FileOf(groups.front(), "memory.oom_control");
  return text ? NumberNamed(*text, "oom_kill") : std::nullopt;
}

}  // namespace

std::map<std::string, CpuQuota> ReadCpuQuotas(const std::string& root) {
  return CpuQuotasOf(CgroupsHere(root));
}

MemoryLimit ReadMemoryLimit(const std::string& root) {
  MemoryLimit limit;
  for (const Cgroup& group : CgroupsOfThisProcess("memory", root)) {
    const std::optional<uint64_t> max_bytes = MaxOf(group);
    if (!max_bytes) continue;
    if (!limit.max_bytes || *max_bytes < *limit.max_bytes) {
      limit.max_bytes = max_bytes;
      struct stat facts {};
      if (::stat(group.directory.c_str(), &facts) == 0) limit.group = facts.st_ino;
    }
    const uint64_t used = UsedBy(group).value_or(0);
    const uint64_t kept = used - std::min(used, ReclaimableIn(group));
    const uint64_t available = *max_bytes - std::min(*max_bytes, kept);
    limit.available_bytes = std::min(limit.available_bytes.value_or(UINT64_MAX), available);
  }
  return limit;
}

std::optional<uint64_t> ReadOomKills(const std::string& root) {
  return OomKillsOf(CgroupsHere(root));
}

std::string OomWatch::ReasonText() {
  const std::optional<uint64_t> kills = ReadOomKills(root_);
  const std::optional<uint64_t> seen = std::exchange(seen_, kills);
  if (!kills || !seen || *kills <= *seen) return "";
  const std::optional<uint64_t> max_bytes = ReadMemoryLimit(root_).max_bytes;
  return absl::StrCat("; the kernel killed ", *kills - *seen == 1 ? "a process" : absl::StrCat(*kills - *seen, " processes"),
                      " of its control group, whose memory",
                      max_bytes ? absl::StrCat(" of ", FormatBytes(static_cast<double>(*max_bytes))) : "",
                      " was used up (oom_kill of memory.events): raise memory.max (MemoryMax= of systemd, --mem of Slurm), or "
                      "use fewer lanes or a smaller -r or --depth");
}

CgroupCounters ReadCgroupCounters(const std::string& root) {
  const CgroupsHere here(root);  // twelve readings of /proc/self/mountinfo per phase took as long as all else here
  CgroupCounters counters;
  counters.at_monotonic_ns = MonotonicNowNs();
  counters.cpu = CpuQuotasOf(here);
  counters.any = !here.Of("cpu").empty();
  for (const char* const controller : {"io", "blkio"}) {
    for (const Cgroup& group : here.Of(controller)) {
      counters.any = true;
      AddIoLimits(group, counters.io);
    }
    // v1 knows the controller as blkio, v2 as io.
    if (!counters.io.empty()) break;
  }
  for (const Cgroup& group : here.Of("memory")) {
    counters.any = true;
    const std::optional<uint64_t> max_bytes = MaxOf(group);
    if (!max_bytes) continue;
    counters.memory_max_bytes = std::min(counters.memory_max_bytes.value_or(UINT64_MAX), *max_bytes);
    const std::optional<std::string> events = FileOf(group, "memory.events");
    std::optional<uint64_t> hits = events ? NumberNamed(*events, "max") : std::nullopt;
    if (!events) hits = NumberIn(Plain(FileOf(group, "memory.failcnt").value_or("")));
    if (hits) counters.memory_max_hits[group.directory] = *hits;
  }
  counters.oom_kills = OomKillsOf(here);
  return counters;
}

}  // namespace iobench

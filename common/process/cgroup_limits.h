// What the control groups of this process allow it, and what they withheld from it so far: processors, block I/O, memory.
// The group that limits most counts, whether it is the process's own or one above it. What is not available (no cgroup
// file system, a controller that is switched off) is absent, never 0.
#ifndef COMMON_PROCESS_CGROUP_LIMITS_H_
#define COMMON_PROCESS_CGROUP_LIMITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace iobench {

// The quota of one group with what it did so far. Not for groups without a quota.
struct CpuQuota {
  double processors = 0;  // the time of so many processors
  uint64_t periods = 0;   // in which its processes ran …
  uint64_t throttled_periods = 0;  // … and used up the quota
  double throttled_s = 0;  // summed over processors
};

// One limit of a device, and what the group has used of the device so far.
struct IoLimit {
  double per_s = 0;     // in bytes or requests
  uint64_t amount = 0;
};
struct IoLimitKey {
  std::string group;   // its directory
  std::string device;  // "8:16"
  bool writes = false;
  bool ops = false;    // in requests, otherwise in bytes
  auto operator<=>(const IoLimitKey&) const = default;
};

struct MemoryLimit {
  std::optional<uint64_t> max_bytes;        // smallest limit
  uint64_t group = 0;                       // inode of the group that has it
  std::optional<uint64_t> available_bytes;  // until the closest limit: unused, or used by files and thus reclaimable
};

// Sums over the process's own group and those above it; of each counter, only the largest group's count is kept, because
// a group above counts what those below do.
struct CgroupCounters {
  int64_t at_monotonic_ns = 0;
  std::map<std::string, CpuQuota> cpu;    // by directory; empty: no quota, or not available
  std::map<IoLimitKey, IoLimit> io;       // empty: no limit, or not available
  std::optional<uint64_t> memory_max_bytes;
  std::map<std::string, uint64_t> memory_max_hits;  // by directory: how often memory was reclaimed at the limit
  std::optional<uint64_t> oom_kills;      // of the process's own group and those below it
  bool any = false;                       // the process is in a group of some controller
};

// `root`: "" outside of tests. Takes about 50 us for each group that holds the process.
CgroupCounters ReadCgroupCounters(const std::string& root = "");
std::map<std::string, CpuQuota> ReadCpuQuotas(const std::string& root = "");
MemoryLimit ReadMemoryLimit(const std::string& root = "");
// How many processes of this process's group (or those below it) the kernel has killed because the memory of the group,
// or of one above it, was used up.
std::optional<uint64_t> ReadOomKills(const std::string& root = "");

// Says why a process may have ended that was killed: notices when the kernel kills processes of this process's group
// for want of memory. Thread-compatible.
class OomWatch {
 public:
  explicit OomWatch(std::string root = "") : root_(std::move(root)), seen_(ReadOomKills(root_)) {}
  // Returns ", …: the kernel killed a process of its control group, whose memory was used up (…)" if it has done so
  // since the last call (or since this object was made), otherwise nothing.
  std::string ReasonText();

 private:
  std::string root_;
  std::optional<uint64_t> seen_;
};

// Parsers for the contents of these files. nullopt: no limit, or not understood. Pure.
std::optional<double> ParseCpuMax(std::string_view cpu_max);  // v2: "50000 100000", "max 100000"
std::optional<double> ParseCfsQuota(std::string_view quota_us, std::string_view period_us);  // v1; -1: no limit
// cpu.stat of v2 (throttled_usec) or v1 (throttled_time, in ns). The processors are left 0.
std::optional<CpuQuota> ParseCpuStat(std::string_view cpu_stat);
// "8:16 rbps=2097152 wbps=max riops=max wiops=120": by device, writes and ops.
using IoAmounts = std::map<std::tuple<std::string, bool, bool>, uint64_t>;
IoAmounts ParseIoMax(std::string_view io_max);
IoAmounts ParseIoStat(std::string_view io_stat);  // "8:16 rbytes=… wbytes=… rios=… wios=…"
// v1: "8:16 10485760" of blkio.throttle.{read,write}_{bps,iops}_device, and "8:16 Read 4096" of
// blkio.throttle.io_service_bytes and io_serviced.
std::map<std::string, uint64_t> ParseDeviceLimits(std::string_view text);
std::map<std::pair<std::string, bool>, uint64_t> ParseBlkioAmounts(std::string_view text);
std::optional<uint64_t> ParseMemoryMax(std::string_view text);  // of v1 or v2

}  // namespace iobench

#endif  // COMMON_PROCESS_CGROUP_LIMITS_H_

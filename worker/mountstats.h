// What the NFS client counts per mount: /proc/self/mountstats. Values from text; no I/O here.
#ifndef WORKER_MOUNTSTATS_H_
#define WORKER_MOUNTSTATS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// One line of the per-op statistics. Times are sums over all calls.
struct NfsOpCounters {
  uint64_t ops = 0;
  uint64_t transmissions = 0;  // >= ops
  uint64_t major_timeouts = 0;
  uint64_t queue_ms = 0;
  uint64_t rtt_ms = 0;
  uint64_t execute_ms = 0;
  std::optional<uint64_t> errors;  // kernels before 5.3 do not count them
};

// What could not be read of a mount is absent.
struct NfsMountCounters {
  std::string source;
  std::string mount_point;
  std::string filesystem;
  std::optional<uint64_t> age_s;
  std::optional<uint64_t> app_read_bytes;  // normal and direct
  std::optional<uint64_t> app_write_bytes;
  std::optional<uint64_t> server_read_bytes;
  std::optional<uint64_t> server_write_bytes;
  std::map<std::string, NfsOpCounters> ops;  // by the kernel's names: "READ", "WRITE", "COMMIT", "GETATTR" …
};

// The mounts that have statistics. Takes more or fewer columns and skips lines it does not know (there is one xprt
// line per connection, and each kernel adds some); a line too short to be understood counts as missing.
std::vector<NfsMountCounters> ParseMountstats(std::string_view text);

// The one mounted at `mount_point`; of several the last, which hides the others. nullptr: none.
const NfsMountCounters* FindNfsMount(const std::vector<NfsMountCounters>& mounts,
                                     std::string_view mount_point);

// What happened between two readings of the same mount; of the ops only those that ran. nullopt: it was
// mounted anew in between (younger, another source, or a counter that shrank).
std::optional<v1::NfsDelta> NfsDeltaBetween(const NfsMountCounters& before, const NfsMountCounters& after);

}  // namespace iobench

#endif  // WORKER_MOUNTSTATS_H_

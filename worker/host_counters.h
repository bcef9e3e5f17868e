// Counters of a whole client, read before and after a phase. Whatever the kernel does not tell is absent, never 0.
#ifndef WORKER_HOST_COUNTERS_H_
#define WORKER_HOST_COUNTERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/result.pb.h"
#include "worker/mountstats.h"

namespace iobench {

struct CpuTicks {       // /proc/stat: sums over all processors, in clock ticks (sysconf(_SC_CLK_TCK))
  uint64_t user = 0;    // user and nice
  uint64_t system = 0;  // system, irq and softirq
  uint64_t idle = 0;    // idle and iowait
  std::optional<uint64_t> steal;
};

struct NicBytes {  // /proc/net/dev, one interface
  uint64_t rx_bytes = 0;
  uint64_t tx_bytes = 0;
  uint64_t drops = 0;  // received and sent
};

// What does not change of an interface.
struct NicFacts {
  bool stands_on_another = false;            // bond, bridge, VLAN: its bytes are counted below it too
  std::optional<uint64_t> link_bytes_per_s;  // of hardware and bonds; veth and its like only claim one
};

struct HostCounters {
  int64_t at_monotonic_ns = 0;
  std::optional<CpuTicks> cpu;
  std::optional<uint64_t> context_switches;
  std::map<std::string, NicBytes> nics;      // but lo
  std::optional<uint64_t> dirty_bytes;
  std::optional<uint64_t> disk_read_bytes;   // of this process
  std::optional<uint64_t> disk_write_bytes;  // a page counts when it becomes dirty
  std::map<uint32_t, NfsMountCounters> nfs;  // by target index
};

// Pure parsers of what stands in those files; nullopt or empty where the line is not there or not understood.
std::optional<CpuTicks> ParseCpuTicks(std::string_view proc_stat);
std::optional<uint64_t> ParseContextSwitches(std::string_view proc_stat);
std::map<std::string, NicBytes> ParseNetDev(std::string_view proc_net_dev);  // lo left out
std::optional<uint64_t> ParseDirtyBytes(std::string_view proc_meminfo);
std::optional<uint64_t> ParseDiskReadBytes(std::string_view proc_self_io);
std::optional<uint64_t> ParseDiskWriteBytes(std::string_view proc_self_io);

// The processors are read last where `last_is_cpu`, else first: nearest to what is measured in either case.
// `nfs_mount_points`: by target index; /proc/self/mountstats is read only where there is one.
HostCounters ReadHostCounters(const std::map<uint32_t, std::string>& nfs_mount_points,
                              bool last_is_cpu = false);

// Looked at once per process and interface: a driver may take milliseconds to say its speed.
const NicFacts& FactsOfNic(const std::string& name);

// `carriers`: the interfaces that the targets' traffic goes through. Told of one by one are these, and others that
// moved anything and stand on none.
using NicFactsOf = std::function<const NicFacts&(const std::string&)>;
v1::HostDelta HostDeltaBetween(const HostCounters& before, const HostCounters& after,
                               const std::set<std::string>& carriers = {},
                               const NicFactsOf& facts_of = FactsOfNic);

}  // namespace iobench

#endif  // WORKER_HOST_COUNTERS_H_

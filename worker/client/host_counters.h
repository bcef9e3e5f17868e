// Counters of a whole client, read before and after a phase. A counter that the kernel does not provide is absent,
// never 0.
#ifndef WORKER_CLIENT_HOST_COUNTERS_H_
#define WORKER_CLIENT_HOST_COUNTERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/process/cgroup_limits.h"
#include "iobench/v1/result.pb.h"
#include "worker/client/mountstats.h"
#include "worker/client/tcp_connections.h"

namespace iobench {

// The line "cpu" of /proc/stat: sums over all processors, in clock ticks (sysconf(_SC_CLK_TCK)).
struct CpuTicks {
  uint64_t user = 0;    // user and nice
  uint64_t system = 0;  // system, irq and softirq
  uint64_t idle = 0;    // idle and iowait
  std::optional<uint64_t> steal;
};

// One interface in /proc/net/dev. All are totals since it was created.
struct NicBytes {
  uint64_t rx_bytes = 0;
  uint64_t tx_bytes = 0;
  uint64_t drops = 0;   // receive and transmit
  uint64_t errors = 0;  // the same
};

// Constant properties of an interface.
struct NicFacts {
  // A bond, bridge or VLAN, whose bytes the interface below counts too.
  bool stands_on_another = false;
  // Only of hardware and bonds: virtual interfaces such as veth report a fictitious speed.
  std::optional<uint64_t> link_bytes_per_s;
};

// One reading. Counters are totals since boot, or since this process began; only differences of two readings mean
// something. The readings are not simultaneous: they take about 0.5 ms, on large hosts more.
struct HostCounters {
  int64_t at_monotonic_ns = 0;
  std::optional<CpuTicks> cpu;
  std::optional<uint64_t> context_switches;
  std::map<std::string, NicBytes> nics;  // all but lo
  // Dirty pages of the whole host at the time of the reading.
  std::optional<uint64_t> dirty_bytes;
  // Read from all block devices of the whole host, whoever asked for it.
  std::optional<uint64_t> all_disks_read_bytes;
  std::optional<uint64_t> disk_read_bytes;  // of this process
  // Of this process: what it caused to be written to disks. A page counts when it becomes dirty.
  std::optional<uint64_t> disk_write_bytes;
  std::map<uint32_t, NfsMountCounters> nfs;  // by target index
  CgroupCounters cgroup;
  std::optional<TcpSegments> tcp;
  TcpConnections server_connections;
};

// Parsers for the contents of these files. nullopt or empty: the line is missing or not understood. Pure.
std::optional<CpuTicks> ParseCpuTicks(std::string_view proc_stat);
std::optional<uint64_t> ParseContextSwitches(std::string_view proc_stat);
std::map<std::string, NicBytes> ParseNetDev(std::string_view proc_net_dev);  // without lo
std::optional<uint64_t> ParseDirtyBytes(std::string_view proc_meminfo);
std::optional<uint64_t> ParseAllDisksReadBytes(std::string_view proc_vmstat);
std::optional<uint64_t> ParseDiskReadBytes(std::string_view proc_self_io);
std::optional<uint64_t> ParseDiskWriteBytes(std::string_view proc_self_io);

// Reads all counters. The processors are read last if `last_is_cpu`, otherwise first, so that they are read closest to
// the measurement. `nfs_mount_points` is indexed by target; /proc/self/mountstats is read only if it is not empty.
// `servers`: numeric addresses, to which connections are read. Those of NFS mounts have the ports of their connections;
// without such a mount, all connections to these addresses are taken.
HostCounters ReadHostCounters(const std::map<uint32_t, std::string>& nfs_mount_points,
                              bool last_is_cpu = false, const std::set<std::string>& servers = {});

// Returns what the control groups of this process withheld between two readings; nullopt: it is in none. `name_of`:
// of a device, "sda" of "8:0".
using DeviceNameOf = std::function<std::string(const std::string&)>;
std::optional<v1::CgroupDelta> CgroupDeltaBetween(const CgroupCounters& before, const CgroupCounters& after,
                                                  const DeviceNameOf& name_of);

// Looked up once per process and interface, because some drivers take milliseconds to report the speed.
const NicFacts& FactsOfNic(const std::string& name);

// Returns the differences of two readings. `carriers`: the interfaces that carry the targets' traffic. These are listed
// individually, as are others that had traffic and are not stacked on another.
using NicFactsOf = std::function<const NicFacts&(const std::string&)>;
v1::HostDelta HostDeltaBetween(const HostCounters& before, const HostCounters& after,
                               const std::set<std::string>& carriers = {},
                               const NicFactsOf& facts_of = FactsOfNic);

}  // namespace iobench

#endif  // WORKER_CLIENT_HOST_COUNTERS_H_

// Counters of a server, or of any host that runs a sampler: processors, disks, network interfaces and the kernel's NFS
// server. A counter that the kernel does not provide is absent, never 0.
#ifndef WORKER_SAMPLER_SERVER_COUNTERS_H_
#define WORKER_SAMPLER_SERVER_COUNTERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/time.h"
#include "iobench/v1/result.pb.h"
#include "worker/client/host_counters.h"

namespace iobench {

// A line of /proc/diskstats (Linux, Documentation/admin-guide/iostats.rst). All are totals since boot.
struct DiskCounters {
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  uint64_t writes = 0;
  uint64_t write_bytes = 0;
  uint64_t busy_ms = 0;    // with at least one request in flight
  uint64_t waited_ms = 0;  // of all requests together, in queue and device
};

// /proc/net/rpc/nfsd: requests that the kernel's NFS server received since it was loaded, of all NFS versions.
struct NfsdCounters {
  uint64_t rpcs = 0;
  uint64_t read_bytes = 0;   // that it returned to clients
  uint64_t write_bytes = 0;  // that it received from clients
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t commits = 0;
  uint32_t threads = 0;
};

// Ticks of one processor in /proc/stat.
struct ProcessorTicks {
  uint64_t busy = 0;
  uint64_t idle = 0;  // idle and iowait
};

// One reading. Counters are totals; only differences of two readings mean something, except for busy_nfsd_threads.
struct ServerReading {
  WorkerTime at;
  HostCounters host;
  std::vector<ProcessorTicks> processors;  // by number; offline ones are missing
  std::map<std::string, DiskCounters> disks;
  std::optional<NfsdCounters> nfsd;
  // nfsd threads that ran or waited for a disk at this instant; the others waited for a request.
  std::optional<uint32_t> busy_nfsd_threads;
};

// Parsers for the contents of these files. Empty, or nullopt: the lines are missing or not understood. Pure.
std::vector<ProcessorTicks> ParseProcessorTicks(std::string_view proc_stat);
std::map<std::string, DiskCounters> ParseDiskstats(std::string_view proc_diskstats);
std::optional<NfsdCounters> ParseNfsdStat(std::string_view proc_net_rpc_nfsd);
// The state in a /proc/PID/stat ("R", "S", "D" …) of a process whose name may contain anything; 0: not understood.
char ParseProcessState(std::string_view proc_pid_stat);

// Returns what happened between two readings. A counter that went backwards, because a disk or an interface was created
// anew or the NFS server restarted, is left out, unless it is one of nfsd's 32-bit counters of bytes, which overflowed.
// Pure but for the speeds of interfaces, which `facts_of` looks up.
v1::ServerInterval IntervalBetween(const ServerReading& before, const ServerReading& after,
                                   const NicFactsOf& facts_of = FactsOfNic);

// Reads all counters of this host. It remembers which devices are whole disks and which threads are nfsd's, and looks
// for new ones every few seconds. Use it from one thread at a time.
class ServerCounterReader {
 public:
  explicit ServerCounterReader(const WorkerClock& clock) : clock_(clock) {}
  ServerReading Read();

 private:
  void ReadAllCounters();

  const WorkerClock clock_;
  int64_t look_again_ns_ = 0;
  std::set<std::string> disks_;            // not stacked on another device: those bytes would count twice
  std::vector<std::string> nfsd_threads_;  // the paths of their stat files
};

}  // namespace iobench

#endif  // WORKER_SAMPLER_SERVER_COUNTERS_H_

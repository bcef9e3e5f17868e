// The network test (-+t): measures the network between the clients and the coordinator's host, without any files.
#ifndef COORDINATOR_NET_CHECK_NET_CHECK_H_
#define COORDINATOR_NET_CHECK_NET_CHECK_H_

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/cluster/cluster.h"

namespace iobench {

// Writes and reads of this size fill fast networks.
constexpr uint32_t kNetTestRecordBytes = 256 << 10;

struct NetTestOptions {
  std::string
      told_host;  // host name or address that clients use for this host; empty: they try its addresses
  uint32_t record_bytes = 0;  // size of each write and read
  double seconds = 0;         // duration of each part; 0: 2 s, or less with many clients
  bool together = true;       // all clients at the same time as well
};

// The results of one client, measured by its first worker. `to` is towards the coordinator's host, `from` away from it.
// NAN: not measured.
struct NetFigures {
  std::string host;        // the client's name (ClientNamesOf)
  std::string reached_at;  // the coordinator's address that the client used
  bool same_host = false;  // client and coordinator are one host, so the network is not measured
  double round_trip_median_us, round_trip_p99_us;
  double to_bytes_per_s, from_bytes_per_s;                      // one client at a time
  double all_to_bytes_per_s = NAN, all_from_bytes_per_s = NAN;  // all clients at the same time
};

// Tests the clients one after the other, then, if asked for, all together, over TCP connections that the clients open.
// Throughput is measured at the receiving end, from the first to the last bytes, so that what is still buffered at the
// sender does not count. Round trips are exchanged for at most 0.5 s. Returns one entry per client with a live worker.
// Errors: a client cannot reach this host (the message names it); Unavailable: a worker was lost; or those of
// Cluster::Call. Blocks the cluster's thread. `own_boot_id`: this host's. REQUIRES: Cluster::Gather has succeeded.
absl::StatusOr<std::vector<NetFigures>> TestNetwork(Cluster& cluster, const std::string& own_boot_id,
                                                    const NetTestOptions& options);

// Prints a table with one row per client, in MiB/s and microseconds, and a last row with the sums of the simultaneous
// tests.
void PrintNetFigures(const std::vector<NetFigures>& figures, std::ostream& out);

// Returns the nearest-rank percentile in us, NAN if `times_ns` is empty. `percent` is from 0 to 100. Pure.
double PercentileUs(std::vector<int64_t> times_ns, double percent);

}  // namespace iobench

#endif  // COORDINATOR_NET_CHECK_NET_CHECK_H_

// -+t: what the network between the clients and the coordinator's host can do, without any file.
#ifndef COORDINATOR_NET_TEST_H_
#define COORDINATOR_NET_TEST_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/cluster.h"

namespace iobench {

struct NetTestOptions {
  std::string told_host;      // how clients reach this host; empty: they try its addresses
  uint32_t record_bytes = 0;  // of each write and read
  double seconds = 0;         // of each part; 0: 2 s, less where many clients come one by one
};

// Of one client, by its first worker. NAN: not measured.
struct NetFigures {
  std::string host;
  std::string reached_at;  // the coordinator's address that it used
  bool same_host = false;  // as the coordinator: says nothing of a network
  double round_trip_median_us, round_trip_p99_us;
  double to_bytes_per_s, from_bytes_per_s;          // alone
  double all_to_bytes_per_s, all_from_bytes_per_s;  // with all others at the same time
};

// One client after the other, then all together. Throughput is what the receiving end saw, from its first bytes to its
// last. An error: a client cannot reach this host, with its name; or as Cluster::Call.
absl::StatusOr<std::vector<NetFigures>> TestNetwork(Cluster& cluster, const std::string& own_boot_id,
                                                    const NetTestOptions& options);

// MiB/s, microseconds, and the sums of what all did together.
void PrintNetFigures(const std::vector<NetFigures>& figures, std::ostream& out);

// Of the middle, or of the percentage of times that are not longer; nearest rank. NAN where there are none. Pure.
double PercentileUs(std::vector<int64_t> times_ns, double percent);

}  // namespace iobench

#endif  // COORDINATOR_NET_TEST_H_

// The parameters of simulated storage: --engine sim:servers=4,service=200us.
#ifndef COMMON_SIMULATED_SIMULATED_STORAGE_H_
#define COMMON_SIMULATED_SIMULATED_STORAGE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// A model of storage with known behaviour. Each op takes, in this order: the round trip, a wait for tokens, a wait for the
// shared link and bytes / link_bytes_per_s on it, a wait for the first free server, and its service time.
struct SimulatedStorage {
  static constexpr uint32_t kMaxServers = 256;

  uint32_t servers = 1;  // each does one op at a time
  double service_ns = 100'000;
  bool exponential = false;     // service times are random with this mean; otherwise all are equal
  double link_bytes_per_s = 0;  // 0: no link
  double round_trip_ns = 0;
  // A token bucket, before the link: it begins with burst_bytes, which ops take, and refills at baseline_bytes_per_s. An op
  // waits until there is enough for it. 0: no bucket
  double baseline_bytes_per_s = 0;
  double burst_bytes = 0;
  // If either is > 0, there are no servers: with n ops in flight, an op takes service * (1 + contention * (n - 1) +
  // crosstalk * n * (n - 1)), so that n lanes together follow the Universal Scalability Law (docs/capacity.md).
  double contention = 0;
  double crosstalk = 0;

  bool scales_by_usl() const { return contention > 0 || crosstalk > 0; }
};

// Parses comma-separated KEY=VALUE: servers=4, service=200us, distribution=constant|exponential, link=100MiB,
// round-trip=50us, baseline=100MiB, burst=4GiB, contention=0.05, crosstalk=0.001. An empty text stands for the defaults
// above. InvalidArgument: the message names the part and lists the keys.
absl::StatusOr<SimulatedStorage> ParseSimulatedStorage(std::string_view text);

}  // namespace iobench

#endif  // COMMON_SIMULATED_SIMULATED_STORAGE_H_

// What the clients' kernels count of the network to the server.
#ifndef COORDINATOR_VALIDATE_CHECKS_NETWORK_READING_H_
#define COORDINATOR_VALIDATE_CHECKS_NETWORK_READING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct CheckContext;

// Totals of one client, by trial (worker/check/trial/network_trials.cc).
using NetworkReading = std::map<std::string, v1::TrialResult>;
using NetworkReadings = std::map<uint32_t, NetworkReading>;  // by worker

// Reads them on all peers. `directory`: of validate. Errors are those of FileCalls.
absl::StatusOr<NetworkReadings> ReadNetworks(CheckContext& context, uint32_t directory);

// What happened between two readings of one client.
struct NetworkOfClient {
  v1::TransportReport transport;
  uint64_t received_segments = 0;
  double comes_late_share =
      0;                  // of those received, if they are enough to say it: they came before an earlier one
  std::string interface;  // to the server; empty: unknown
};

// nullopt: the client's kernel counts nothing that both readings have.
std::optional<NetworkOfClient> NetworkBetween(const NetworkReading& before, const NetworkReading& after);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_NETWORK_READING_H_

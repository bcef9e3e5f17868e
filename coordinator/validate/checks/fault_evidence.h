// What clients saw of a fault: whether there was one at all, and of what kind.
#ifndef COORDINATOR_VALIDATE_CHECKS_FAULT_EVIDENCE_H_
#define COORDINATOR_VALIDATE_CHECKS_FAULT_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

// What a client knows of its server (worker/check/trial/server_trials.cc); totals, of which only differences count.
struct ServerSight {
  std::optional<uint64_t> connects;       // connections made
  std::optional<uint64_t> introductions;  // how often an NFSv4 server had to learn who the client is
  std::optional<uint64_t> tcp_timeouts;   // segments that no host acknowledged in time
};
using ServerSights = std::map<uint32_t, ServerSight>;  // by worker

// Asks all peers. Errors are those of FileCalls.
absl::StatusOr<ServerSights> LookAtServer(CheckContext& context, uint32_t directory);

// What happened between two looks, over all clients.
struct FaultSigns {
  double held_up_s = 0;                   // the longest write
  bool write_failed = false;              // or never returned
  std::optional<uint64_t> reconnects;     // absent, as the next two: no client can tell
  std::optional<uint64_t> introductions;  // NFSv4 only
  std::optional<uint64_t> tcp_timeouts;   // of the client that had most
};
FaultSigns SignsBetween(const ServerSights& before, const ServerSights& after);

enum class FaultKind {
  kNone,              // nothing that a client could notice
  kUnknown,           // writes were held up; these clients cannot tell more
  kSilence,           // the server did not answer for a while, and then went on as before
  kServiceRestarted,  // the NFS service began anew, on a host that answered all the time
  kHostRestarted,  // its host did not answer for a while, and the service then began anew, there or on another host
};
FaultKind KindOf(const FaultSigns& signs);
// "the NFS service was restarted, on a host that answered all the time"
const char* Describe(FaultKind kind);
// One line for each sign, for the evidence.
std::vector<std::string> Lines(const FaultSigns& signs);

// The exports with "async" that samplers have seen: "server exports /export to 10.0.0.0/24 with async".
std::vector<std::string> AsyncExports(const CheckContext& context);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FAULT_EVIDENCE_H_

// How a coordinator that listens is protected, according to its options, and how its workers join.
#ifndef COORDINATOR_JOIN_SETUP_H_
#define COORDINATOR_JOIN_SETUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/join_security.h"
#include "coordinator/option/cluster_options.h"

namespace iobench {

inline constexpr char kInsecureWarning[] =
    "cluster-iobench: --insecure: nothing is encrypted, and anyone who reaches this port can join or pretend to be it";

// Reads or makes the token file, the certificates and the run's secret. The token file, if one is named, then has what
// workers need: an existing one keeps its token, and gets this run's certificate unless --tls-cert is given.
// `hands_credentials`: workers get JoinSecurity::for_workers from this program, without a file. The error is one line
// about the options or a file.
absl::StatusOr<JoinSecurity> PrepareSecurity(const std::string& address, const ClusterOptions& place,
                                             bool hands_credentials = false);

// `lanes`: max. number per worker in a phase.
GrpcListenOptions ListenOptionsFor(const JoinSecurity& security, uint32_t worker_count, uint32_t lanes);

// Returns the words that a worker's command line needs after --join ADDR, with a space before each.
std::string WorkerWords(const JoinSecurity& security, const ClusterOptions& place);

}  // namespace iobench

#endif  // COORDINATOR_JOIN_SETUP_H_

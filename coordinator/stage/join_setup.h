// How a coordinator that listens is protected, according to its options, and how its workers join.
#ifndef COORDINATOR_STAGE_JOIN_SETUP_H_
#define COORDINATOR_STAGE_JOIN_SETUP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/join_security.h"
#include "coordinator/options/cluster_options.h"
#include "coordinator/stage/token_life.h"

namespace iobench {

inline constexpr char kInsecureWarning[] =
    "cluster-iobench: --insecure: nothing is encrypted, and anyone who reaches this port can join or pretend to be it";

struct JoinSetup {
  JoinSecurity security;
  std::string new_token_file = {};  // to be written with what workers need; empty: none, or it is left alone
  TokenLimits token_limits = {};    // when `security` has a token
  bool is_single_run = false;       // the token was made for workers that this coordinator starts
};

// Reads the token file, and reads or makes the certificates and the run's secret. An existing token file keeps its
// token, and gets this run's certificate unless --tls-cert is given; ListenOptionsFor has it written.
// `hands_credentials`: workers get JoinSecurity::for_workers from this program, without a file. A token that is made for
// them is good for as many joins as there are of them. The error is one line about the options or a file.
absl::StatusOr<JoinSetup> PrepareSecurity(const std::string& address, const ClusterOptions& place,
                                          bool hands_credentials = false);

// `lanes`: max. number per worker in a phase. The new token file is written when the address is this process's own, because
// another coordinator that has it may use the same file.
GrpcListenOptions ListenOptionsFor(const JoinSetup& setup, uint32_t worker_count, uint32_t lanes);

// Returns the words that a worker's command line needs after --join ADDR, with a space before each.
std::string WorkerWords(const JoinSecurity& security, const ClusterOptions& place);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_JOIN_SETUP_H_

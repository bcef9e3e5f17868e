// Where a run's workers are and how messages reach them: one row for each transport.
#ifndef COORDINATOR_TRANSPORTS_H_
#define COORDINATOR_TRANSPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/mpi_launch.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/option/cli.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What a transport carries.
struct Job {
  const CommandLine& line;
  const v1::Plan& plan;                    // empty for selftest and on ranks that follow
  const std::vector<ClientEntry>& clients;  // of a client list; empty: none
  const std::string& command;              // as typed, for the report
};

struct TransportSpec {
  const char* name;  // of --transport
  // Sets the transport up, runs the command on it and returns the exit code.
  int (*run)(const Job& job);
  // How many workers there will be; 0: it is not known before they join.
  uint32_t (*worker_count)(const CommandLine& line, const MpiLaunch& launch);
};

// The transport that the options select: --transport, or the one that fits the other options. REQUIRES: a name that
// ParseCommandLine accepts.
const TransportSpec& ChosenTransport(const CommandLine& line, const MpiLaunch& launch);

// InvalidArgument: under an MPI launcher, each rank would start, or wait for, all workers.
absl::Status CheckNoRanks(const CommandLine& line, const MpiLaunch& launch);

// True if the options say which directories are tested; otherwise each client of a list tests its own.
bool SaysWhere(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_TRANSPORTS_H_

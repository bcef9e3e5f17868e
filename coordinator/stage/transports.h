// Where a run's workers are and how messages reach them: one row for each transport.
#ifndef COORDINATOR_STAGE_TRANSPORTS_H_
#define COORDINATOR_STAGE_TRANSPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/transport/mpi_launch.h"
#include "common/transport/transport.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/join_watch.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

struct ResumePoint;

// A command for a transport to carry out, with its inputs. Borrows all members until the command has returned.
struct Job {
  const CommandLine& line;
  // The checked plan. It is empty for selftest, and on MPI ranks other than 0, which get their work from rank 0.
  const v1::Plan& plan;
  // The lines of the client list whose clients take part; empty if there is no list.
  const std::vector<ClientEntry>& clients;
  const std::vector<HostEntry>& hosts;  // of --hosts
  const std::vector<HostEntry>& sampler_hosts;
  const std::string& command;           // as typed, for the report
  const ResumePoint* resume = nullptr;  // the saved run to resume; null: a new run
};

// A row of the table of transports. A new transport is a new row, and a name in
// coordinator/option/transport_names.h.
struct TransportSpec {
  const char* name;  // of --transport
  // Sets the transport up, runs the command on it and returns the exit code. Errors are printed on stderr as one line.
  // REQUIRES: HandleSignals.
  int (*run)(const Job& job);
  // How many workers there will be; 0: it is not known before they join. With a client list it is 1 at this point: the
  // plan is built with as many lanes as the list has lines, and these become workers when the list has been read
  // (LanesBecomeWorkers). With --hosts, the list's slots count instead.
  uint32_t (*worker_count)(const CommandLine& line, const MpiLaunch& launch);
};

// The transport that the options select: --transport, or the one that fits the other options. REQUIRES: a name that
// ParseCommandLine accepts.
const TransportSpec& ChosenTransport(const CommandLine& line, const MpiLaunch& launch);

// InvalidArgument: the options start workers or wait for them (--spawn, --listen, a client list) or select the local
// transport, and an MPI launcher started several ranks. Each rank would then be a coordinator on the same files.
absl::Status CheckNoRanks(const CommandLine& line, const MpiLaunch& launch);

// Returns the max. number of lanes per worker in any phase.
uint32_t LanesPerWorker(const Job& job);

// Runs the command on the workers of `transport` and returns the exit code.
int CarryOut(const Job& job, Transport& transport, uint32_t worker_count, JoinWatch join_watch);

// True if the options say which directories are tested; otherwise each client of a list tests its own.
bool SaysWhere(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_TRANSPORTS_H_

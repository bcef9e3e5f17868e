// Where a run's workers are and how messages reach them: one row for each transport.
#ifndef COORDINATOR_STAGE_TRANSPORTS_H_
#define COORDINATOR_STAGE_TRANSPORTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/transport/mpi_launch.h"
#include "coordinator/options/cluster_options.h"
#include "coordinator/stage/job.h"

namespace iobench {

// A row of the table of transports. A new transport is a new row, and a name in
// coordinator/options/transport_names.h.
struct TransportSpec {
  const char* name;  // of --transport
  // Sets the transport up, runs the command on it and returns the exit code. Errors are printed on stderr as one line.
  // REQUIRES: HandleSignals.
  int (*run)(const Job& job);
  // How many workers there will be; 0: it is not known before they join. With a client list it is 1 at this point: the
  // plan is built with as many lanes as the list has lines, and these become workers when the list has been read
  // (LanesBecomeWorkers). With --hosts, the list's slots count instead.
  uint32_t (*worker_count)(const ClusterOptions& place, const MpiLaunch& launch);
};

// The transport that the options select: --transport, or the one that fits the other options. `simulated`: the workers
// are simulated on this host. REQUIRES: a name that ParseCommandLine accepts.
const TransportSpec& ChosenTransport(const ClusterOptions& place, bool simulated, const MpiLaunch& launch);

// InvalidArgument: the options start workers or wait for them (--spawn, --listen, a client list) or select the local
// transport, and an MPI launcher started several ranks. Each rank would then be a coordinator on the same files.
absl::Status CheckNoRanks(const ClusterOptions& place, const MpiLaunch& launch);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_TRANSPORTS_H_

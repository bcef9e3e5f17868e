// Options outside the option table: where the workers are and where results go.
#ifndef COORDINATOR_OPTION_CLUSTER_OPTIONS_H_
#define COORDINATOR_OPTION_CLUSTER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "coordinator/option/option.h"

namespace iobench {

// They apply to a run but not to its plan: the same plan gives the same phases wherever its workers are.
struct ClusterOptions {
  std::string transport = "auto";  // auto, or one of kTransportNames
  uint32_t spawn = 0;              // number of worker processes to start on this host; 0: none
  // The address at which workers join (":9400", "host:9400", "unix:/path"), and how many are waited for. Empty and 0:
  // the user starts none.
  std::string listen;
  uint32_t workers = 0;
  std::string client_list;       // file: workers are started on these clients by a remote shell
  std::string coordinator_host;  // how clients reach this host; empty: determined automatically
  bool net_test = false;         // run the network test in place of the plan
  // How long the coordinator waits for its workers, or a worker for its coordinator.
  double join_timeout_s = 600;
  bool join_timeout_given = false;
  double lost_after_s = 60;  // time after which a silent worker counts as lost
  bool insecure = false;     // listen on a network address without TLS
  std::string out;           // directory for the results; empty: a new one in cluster-iobench.out
  bool progress = false;     // show progress even if stderr is not a terminal
  // Replace earlier results and the data of a crashed run, and go on if space is short or clients see different file
  // systems.
  bool force = false;
};

// InvalidArgument: the options conflict, or one needs another that is missing. Accesses nothing.
absl::Status CheckClusterOptions(const ClusterOptions& cluster);

// The network test (-+t) uses no files, so few options of a run apply to it. InvalidArgument: one of `given` does not.
// OK without -+t.
absl::Status CheckNetTest(const ClusterOptions& cluster, const GivenOptions& given);

// Checks that the given options for remote workers apply to `transport` (local, mpi or grpc). InvalidArgument: the
// message names one that does not. --lost-after always applies, since this process's own worker is watched too.
absl::Status CheckUsesOf(const ClusterOptions& cluster, const std::string& transport);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_CLUSTER_OPTIONS_H_

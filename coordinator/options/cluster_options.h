// Options outside the option table: where the workers are and where results go.
#ifndef COORDINATOR_OPTIONS_CLUSTER_OPTIONS_H_
#define COORDINATOR_OPTIONS_CLUSTER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/options/option.h"
#include "coordinator/options/patience.h"

namespace iobench {

// What protects this process and its connections, of a coordinator or a worker.
struct ProtectionOptions {
  bool insecure = false;  // no TLS and no token on a network address
  // What protects connections over a network (common/transport/grpc/join_security.h). Files.
  std::string token_file;
  bool token_group = false;  // its group may read it
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  std::string tls_crl;
  std::string user;  // run as this user; empty: keep the current one
};

// They apply to a run but not to its plan: the same plan gives the same phases wherever its workers are.
struct ClusterOptions : ProtectionOptions {
  std::string transport = "auto";  // auto, or one of kTransportNames
  uint32_t spawn = 0;              // number of worker processes to start on this host; 0: none
  // The address at which workers join (":9400", "host:9400", "unix:/path"), and how many are waited for. Empty and 0:
  // the user starts none.
  std::string listen;
  uint32_t workers = 0;
  uint32_t samplers = 0;  // number of samplers to wait for as well
  // Servers on which samplers are started, in the same way and form as `hosts`.
  std::string sampler_hosts;
  double sample_interval_s = 0.25;  // between two readings of a server's counters
  bool sample_interval_given = false;
  std::string client_list;  // file: workers are started on these clients by a remote shell
  // Hosts on which workers are started by a remote shell: a list, or @FILE (coordinator/launch/host_list.h).
  std::string hosts;
  std::string launcher;          // the remote shell, with {host} and so on; empty: $RSH, or ssh
  bool copy_binary = false;      // ship the worker program to the hosts
  std::string coordinator_host;  // how clients reach this host; empty: determined automatically
  bool net_test = false;         // run the network test in place of the plan
  // How long the coordinator waits for its workers.
  double join_timeout_s = 600;
  bool join_timeout_given = false;
  double token_ttl_s = 0;   // time after which nobody else can join with the token; 0: never
  double lost_after_s = 0;  // as given; PatienceOf says what holds
  double lease_s = 0;       // as given; PatienceOf says what holds
  bool lost_after_given = false;
  bool lease_given = false;
  double stall_timeout_s =
      300;                     // time after which a worker counts as lost if its lanes stand still; 0: never
  double phase_timeout_s = 0;  // the same for a worker that has not ended its part of a phase; 0: never
  std::string on_lost = "continue";  // or abort: the run ends as soon as a worker is lost
  std::string out;     // directory for the results; empty: a new one in cluster-iobench.out
  std::string resume;  // directory of a saved run to resume, whose plan is used; empty: a new run
  std::vector<std::string> without;  // clients of that run without which it goes on
  std::string label;   // shown by every report
  // Names of kFormatNames: reports that are also written. Text is printed in place of the console's report.
  std::vector<std::string> formats;
  std::string workbook;      // -b: file that the report is also written to as a workbook; empty: none
  bool progress = false;     // show progress even if stderr is not a terminal
  bool live = false;         // show the run on the whole screen while it lasts
  std::string live_csv;      // file for a row per client and second while the run lasts; empty: none
  std::string live_metrics;  // address to serve OpenMetrics at while the run lasts; empty: none
  bool verbose = false;      // the console's report in full
  // Replace earlier results and the data of a crashed run, and go on if space is short or clients see different file
  // systems.
  bool force = false;
  // Commands that this host runs before and after each phase; empty: none. Each is killed after hook_timeout_s.
  std::string before_phase;
  std::string after_phase;
  double hook_timeout_s = 60;
  bool hook_timeout_given = false;
  bool skip_bad = false;      // clients with a fault are left out instead of refusing the run
  double max_duration_s = 0;  // of all phases; 0: no limit
  double share_wait_s = 5;    // how long a file that one worker wrote may take to appear on another
  bool share_wait_given = false;
};

// How long coordinator and workers wait for each other. REQUIRES: CheckClusterOptions succeeded.
Patience PatienceOf(const ClusterOptions& cluster);

// InvalidArgument: the options conflict, or one needs another that is missing. Accesses nothing.
absl::Status CheckClusterOptions(const ClusterOptions& cluster);

// The network test (-+t) uses no files, so few options of a run apply to it. InvalidArgument: one of `given` does not.
// OK without -+t.
absl::Status CheckNetTest(const ClusterOptions& cluster, const GivenOptions& given);

// Checks that the given options for remote workers apply to `transport` (local, mpi or grpc). InvalidArgument: the
// message names one that does not. --lost-after always applies, since this process's own worker is watched too.
absl::Status CheckUsesOf(const ClusterOptions& cluster, const std::string& transport);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_CLUSTER_OPTIONS_H_

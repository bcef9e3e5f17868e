// Parses the command line and checks what can be checked without accessing anything.
#ifndef COORDINATOR_OPTION_CLI_H_
#define COORDINATOR_OPTION_CLI_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option/option.h"

namespace iobench {

enum class Command { kRun, kWorker, kReport, kSelftest, kClean, kText, kUsage };

// Where the workers are and where results go.
struct ClusterOptions {
  std::string transport = "auto";
  uint32_t spawn = 0;
  std::string listen;
  uint32_t workers = 0;
  std::string client_list;       // file: workers are started on these clients by a remote shell
  std::string coordinator_host;  // how clients reach this host; empty: determined automatically
  bool net_test = false;         // run the network test in place of the plan
  double join_timeout_s = 600;
  bool join_timeout_given = false;
  double lost_after_s = 60;  // time after which a silent worker counts as lost
  bool insecure = false;
  std::string out;
  bool progress = false;
  bool force = false;
};

struct CommandLine {
  Command command = Command::kRun;
  GivenOptions given;  // run: the operations and their timing; checked by CheckOptions
  ClusterOptions cluster;
  bool print_plan = false;
  bool dry_run = false;
  std::string join;           // worker
  uint32_t simulate = 1;      // worker: number of workers in this process; selftest: number of simulated workers
  bool spawned = false;       // worker: started by --spawn
  uint32_t client_list_position = 0;  // worker: its position in the client list; 0: none
  std::string worker_path;    // worker: the path to test; empty: the plan's
  std::string report_directory;
  std::string clean_directory;
  uint32_t selftest_phases = 20;
  uint32_t selftest_lanes = 1;
  std::string text;  // kText: print this and exit with 0 (help, version, `--suite list`); kUsage: no command was given
};

// Checks that the given options for remote workers apply to `transport` (local, mpi or grpc). InvalidArgument: the
// message names one that does not. --lost-after always applies, since this process's own worker is watched too.
absl::Status CheckUsesOf(const ClusterOptions& cluster, const std::string& transport);

// Parses `arguments`, which exclude the program's name. InvalidArgument: one line that says what to do.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_CLI_H_

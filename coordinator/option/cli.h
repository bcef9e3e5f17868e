// Parses the command line and checks what can be checked without accessing anything.
#ifndef COORDINATOR_OPTION_CLI_H_
#define COORDINATOR_OPTION_CLI_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option/cluster_options.h"
#include "coordinator/option/option.h"

namespace iobench {

enum class Command { kRun, kWorker, kReport, kSelftest, kClean, kText, kUsage };

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

// Parses `arguments`, which exclude the program's name. InvalidArgument: one line that says what to do.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_CLI_H_

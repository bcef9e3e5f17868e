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

// What to do. kText: print CommandLine.text and exit with 0 (help, version, `--suite list`). kUsage: the command line
// says neither what to do nor where, so print the text and exit with kExitUsage.
enum class Command { kRun, kWorker, kReport, kSelftest, kClean, kText, kUsage };

// The parsed command line. A member whose comment names a command has its default for all others.
struct CommandLine {
  Command command = Command::kRun;
  // run: the operations and their timing. Complete has expanded shorthands and checked the rules.
  GivenOptions given;
  // run and selftest: checked by CheckClusterOptions. worker uses join_timeout_s of it, clean uses force.
  ClusterOptions cluster;
  // run: print the plan, or check everything without writing, and stop.
  bool print_plan = false;
  bool dry_run = false;
  std::string join;       // worker: the coordinator's address, host:port or unix:PATH
  uint32_t simulate = 1;  // worker: number of workers in this process; selftest: number of simulated workers
  bool spawned = false;   // worker: started by --spawn
  uint32_t client_list_position = 0;  // worker: its position in the client list, from 1; 0: none
  std::string worker_path;            // worker: the path to test; empty: the plan's
  std::string report_directory;
  std::string clean_directory;
  uint32_t selftest_phases = 20;
  uint32_t selftest_lanes = 1;  // per worker
  std::string text;             // kText and kUsage
};

// Parses `arguments`, which exclude the program's name; without a command they are those of `run`. Reads the files of
// suites, and nothing else of the file system. InvalidArgument: one line that says what to do. NotFound: the suites are
// not installed.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_OPTION_CLI_H_

// Parses the command line and checks what can be checked without accessing anything.
#ifndef COORDINATOR_COMMAND_LINE_CLI_H_
#define COORDINATOR_COMMAND_LINE_CLI_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option/capacity_options.h"
#include "coordinator/option/cluster_options.h"
#include "coordinator/option/observe_options.h"
#include "coordinator/option/option.h"
#include "coordinator/option/validate_options.h"

namespace iobench {

// What to do. kText: print CommandLine.text and exit with 0 (help, version, `--suite list`). kUsage: the command line
// says neither what to do nor where, so print the text and exit with kExitUsage.
enum class Command {
  kRun,
  kPreflight,
  kValidate,
  kCapacity,
  kWorker,
  kReport,
  kCompare,
  kHistory,
  kObserve,
  kSelftest,
  kClean,
  kText,
  kUsage
};

// What `report` prints of a saved run, and where.
struct ReportOptions {
  std::string directory;
  std::string format;    // one of kFormatNames; empty: the console's report
  std::string output;    // file to write; empty: standard output, or the format's own file if it is not text
  bool verbose = false;  // the console's report in full
  bool replace = false;  // an existing file may be replaced
  bool redact = false;   // names of hosts, paths and users are replaced by aliases
  bool verify = false;   // check the saved run instead of printing it
};

// Which runs `compare` and `history` read, and how they show the result.
struct CompareOptions {
  std::vector<std::string> directories;  // compare: the baseline first
  std::string format = "text";           // one of kCompareFormatNames
  std::string output;                    // file to write; empty: standard output
  bool replace = false;                  // an existing file may be replaced
  double level_percent = 95;             // of intervals and verdicts
  double margin_percent = 5;             // a difference within this counts as equal
  double fail_under_percent = 0;         // of the baseline; 0: not given
  uint32_t inconclusive_exit = 4;        // with --fail-under: if none is below it, but not all are shown to reach it
};

// The parsed command line. A member whose comment names commands has its default for all others.
struct CommandLine {
  Command command = Command::kRun;
  // run, preflight and capacity: the operations and their timing; validate: the directory. Complete has expanded
  // shorthands and checked the rules.
  GivenOptions given;
  // run, preflight, validate, capacity and selftest: checked by CheckClusterOptions. worker uses join_timeout_s and the
  // members that protect connections, clean uses force, hosts and launcher.
  ClusterOptions cluster;
  // run: print the plan, or (also capacity) check everything without writing, and stop.
  bool print_plan = false;
  bool dry_run = false;
  std::string join;       // worker: the coordinator's address, host:port or unix:PATH
  uint32_t simulate = 0;  // number of simulated workers: in this process (worker), of all (selftest); 0: real ones
  bool spawned = false;   // worker: started by --spawn
  uint32_t slots = 1;     // worker: number of worker processes to start
  bool sampler = false;   // worker: has no lanes, but samples its host
  uint32_t server_workers = 0;  // worker --sampler: number of worker processes to start beside it; 0: none
  bool server = false;          // worker: is one of these processes
  bool stay = false;            // worker: wait for the next coordinator after a run
  uint32_t client_list_position = 0;  // worker: its position in the client list, from 1; 0: none
  std::string worker_path;            // worker: the path to test; empty: the plan's
  // worker: what it permits a coordinator (WorkerRights). Empty and 0: the defaults for the way in which it joins.
  std::vector<std::string> roots;
  std::string allow;
  uint32_t max_lanes = 0;
  std::string max_memory;                      // a size
  ReportOptions report;                        // report
  CompareOptions compare;                      // compare and history
  std::string preflight_format = "text";       // preflight: text or json
  ValidateOptions validate;                    // validate
  CapacityOptions capacity;                    // capacity
  ObserveOptions observe;                      // observe
  std::vector<std::string> clean_directories;  // clean
  bool clean_copies = false;                   // clean: also the copies of --copy-binary on the hosts
  double clean_timeout_s = 0;                  // clean: time after which a host is given up; 0: never
  uint32_t selftest_phases = 20;
  uint32_t selftest_lanes = 1;  // per worker
  std::string text;             // kText and kUsage
};

// Parses `arguments`, which exclude the program's name; without a command they are those of `run`. Reads the files of
// suites, and nothing else of the file system. InvalidArgument: one line that says what to do. NotFound: the suites are
// not installed.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_CLI_H_

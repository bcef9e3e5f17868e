// The options of each command, parsed and checked: one struct a command.
#ifndef COORDINATOR_OPTIONS_COMMAND_OPTIONS_H_
#define COORDINATOR_OPTIONS_COMMAND_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/options/capacity_options.h"
#include "coordinator/options/cluster_options.h"
#include "coordinator/options/option.h"
#include "coordinator/options/validate_options.h"

namespace iobench {

// What all commands take that need the workers of a run.
struct JobOptions {
  GivenOptions given;  // what is measured, with shorthands expanded; validate: the directory; selftest: nothing
  ClusterOptions cluster;
};

struct RunCommand : JobOptions {
  static constexpr OptionCommand kCommand = kForRun;
  bool print_plan = false;  // print the plan, and stop
  bool dry_run = false;     // check everything without writing, and stop
  bool as_iozone = false;   // standard output is IOzone's text, all else is on standard error
  bool as_iozone_given = false;
  bool throughput_mode = false;    // with as_iozone: IOzone's, even with a single lane
  std::vector<std::string> notes;  // with as_iozone, on what is ignored
  // What to type with --resume to have the same workers: "--spawn 2". Not an option.
  std::string for_resuming = {};
};

struct PreflightCommand : JobOptions {
  static constexpr OptionCommand kCommand = kForPreflight;
  std::string format = "text";  // text or json
};

struct ValidateCommand : JobOptions {
  static constexpr OptionCommand kCommand = kForValidate;
  ValidateOptions validate;
};

struct CapacityCommand : JobOptions {
  static constexpr OptionCommand kCommand = kForCapacity;
  CapacityOptions capacity;
  bool dry_run = false;  // check everything without writing, and stop
};

struct SelftestCommand : JobOptions {
  static constexpr OptionCommand kCommand = kForSelftest;
  uint32_t simulate = 0;  // number of simulated workers; 0: real ones
  uint32_t phases = 20;
  uint32_t lanes = 1;  // per worker
};

// How a worker joins, and what it permits a coordinator.
struct JoinCommand : ProtectionOptions {
  static constexpr OptionCommand kCommand = kForWorker;
  std::string join;             // the coordinator's address, host:port or unix:PATH
  double join_timeout_s = 600;  // how long it waits for its coordinator
  bool join_timeout_given = false;
  uint32_t simulate = 0;              // number of simulated workers in this process; 0: a real one
  bool spawned = false;               // started by --spawn
  uint32_t slots = 1;                 // number of worker processes to start
  bool sampler = false;               // has no lanes, but samples its host
  uint32_t server_workers = 0;        // with `sampler`: number of worker processes to start beside it; 0: none
  bool server = false;                // is one of these processes
  bool stay = false;                  // wait for the next coordinator after a run
  uint32_t client_list_position = 0;  // its position in the client list, from 1; 0: none
  std::string path;                   // the path to test; empty: the plan's
  // WorkerRights. Empty and 0: the defaults for the way in which it joins.
  std::vector<std::string> roots;
  std::string allow;
  uint32_t max_lanes = 0;
  std::string max_memory;  // a size
};

// What `report` prints of a saved run, and where.
struct ReportCommand {
  static constexpr OptionCommand kCommand = kForReport;
  std::string directory;
  std::string format;    // one of kFormatNames; empty: the console's report
  std::string output;    // file to write; empty: standard output, or the format's own file if it is not text
  bool verbose = false;  // the console's report in full
  bool replace = false;  // an existing file may be replaced
  bool redact = false;   // names of hosts, paths and users are replaced by aliases
  bool verify = false;   // check the saved run instead of printing it
};

// Which runs are read, and how the result is shown.
struct CompareCommand {
  static constexpr OptionCommand kCommand = kForCompare;
  std::vector<std::string> directories;  // the baseline first
  std::string format = "text";           // one of kCompareFormatNames
  std::string output;                    // file to write; empty: standard output
  bool replace = false;                  // an existing file may be replaced
  std::string pair = "alike";            // one of kPairingNames
  bool redact = false;                   // as for ReportCommand
  double level_percent = 95;             // of intervals and verdicts
  double margin_percent = 5;             // a difference within this counts as equal
  double fail_under_percent = 0;         // of the baseline; 0: not given
  uint32_t inconclusive_exit = 4;        // with --fail-under: if none is below it, but not all are shown to reach it
};

struct HistoryCommand : CompareCommand {
  static constexpr OptionCommand kCommand = kForHistory;
};

// The shortest time between two readings of the counters.
inline constexpr double kMinObserveIntervalSeconds = 0.1;

// Either `merge` names files, or `path` a directory and `for_s` a time.
struct ObserveCommand {
  static constexpr OptionCommand kCommand = kForObserve;
  std::string path;
  double for_s = 0;
  double interval_s = 0;
  std::string output;              // file; empty: standard output
  bool replace = false;            // an existing file may be replaced
  std::vector<std::string> merge;  // mix files that become one
  std::string mountstats = "/proc/self/mountstats";
};

struct CleanupCommand {
  static constexpr OptionCommand kCommand = kForClean;
  std::vector<std::string> directories;
  std::string hosts;     // on which it runs, as for ClusterOptions; empty: on this one
  std::string launcher;  // the remote shell, as for ClusterOptions
  bool copies = false;   // also the copies of --copy-binary on the hosts
  double timeout_s = 0;  // time after which a host is given up; 0: never
  bool force = false;    // remove the data even if this host cannot see whether the run is still alive
};

// A command line of another tool, or the name of a job file.
struct TranslateCommand {
  static constexpr OptionCommand kCommand = kForTranslate;
  std::vector<std::string> words;
};

// Nothing to do but to print: help, version, lists. `misuse`: the command line says neither what to do nor where, so the
// exit code is kExitUsage. `lists_csv_columns`: in place of `text`, what commands/csv_help.h says, which needs the reports.
struct TextAnswer {
  std::string text;
  bool misuse = false;
  bool lists_csv_columns = false;
};

using Command = std::variant<TextAnswer, RunCommand, PreflightCommand, ValidateCommand, CapacityCommand, JoinCommand,
                             ReportCommand, CompareCommand, HistoryCommand, ObserveCommand, SelftestCommand, CleanupCommand, TranslateCommand>;

// The user as whom the command runs; empty: the current one.
std::string UserOf(const Command& command);

// Words of a command line that belong to no option, until they are checked. A field of the option table.
struct PlainWords {
  std::vector<std::string> words;
};

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_COMMAND_OPTIONS_H_

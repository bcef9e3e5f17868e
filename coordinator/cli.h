// The command line: what the user asked for, checked as far as it can be without looking at anything.
#ifndef COORDINATOR_CLI_H_
#define COORDINATOR_CLI_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/option.h"

namespace iobench {

enum class Command { kRun, kWorker, kReport, kSelftest, kClean, kText, kUsage };

// Where the workers are and where results go.
struct PlaceOptions {
  std::string transport = "auto";
  uint32_t spawn = 0;
  std::string listen;
  uint32_t workers = 0;
  std::string client_list;       // a file: workers are started on these clients by a remote shell
  std::string coordinator_host;  // how clients reach this host; empty: found out
  bool net_test = false;         // the network, in place of what the plan says
  double join_timeout_s = 600;
  bool join_timeout_given = false;
  double lost_after_s = 60;  // a worker that does not answer
  bool insecure = false;
  std::string out;
  bool progress = false;
  bool force = false;
};

struct CommandLine {
  Command command = Command::kRun;
  GivenOptions given;  // run: what to do and how it is timed; checked by CheckOptions
  PlaceOptions place;
  bool print_plan = false;
  bool dry_run = false;
  std::string join;           // worker
  uint32_t simulate = 1;      // worker: so many workers in this process; selftest: simulated workers
  bool spawned = false;       // worker: started by --spawn
  uint32_t worker_place = 0;  // worker: its place in the client list; 0: none
  std::string worker_path;    // worker: where it works; empty: where the plan says
  std::string report_directory;
  std::string clean_directory;
  uint32_t selftest_phases = 20;
  uint32_t selftest_lanes = 1;
  std::string text;  // kText: print this and exit 0 (help, version, `--suite list`). kUsage: nothing was asked for
};

// Whether options for workers elsewhere have a use over `transport`: local, mpi or grpc. InvalidArgument names one that has
// none. --lost-after always has: this process's own worker is told of, too, when it does not answer.
absl::Status CheckUsesOf(const PlaceOptions& place, const std::string& transport);

// `arguments` without the program's name. InvalidArgument: one line that says what to do.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_CLI_H_

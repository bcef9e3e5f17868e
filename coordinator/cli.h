// The command line: what the user asked for, checked as far as it can be without looking at anything.
#ifndef COORDINATOR_CLI_H_
#define COORDINATOR_CLI_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

enum class Command { kRun, kWorker, kReport, kSelftest, kClean, kText };

// What to do and how it is timed. Sizes are still text: "64k".
struct WorkOptions {
  std::vector<std::string> operations;
  std::string record;
  std::string size;
  uint32_t lanes = 0;  // 0: not given
  uint32_t files_per_lane = 1;
  std::vector<std::string> paths;
  bool shared_file = false;
  uint32_t stride_records = 17;
  uint32_t mix_percent = 0;  // 0: not given
  bool mix_by_lane = false;
  bool no_retest = false;
  std::string engine = "posix";
  uint64_t seed = 1;
  std::string plan_file;
  bool close_in_timing = false;
  bool fsync_in_timing = false;
  bool open_in_timing = false;
  bool direct = false;
  bool sync = false;
  bool dsync = false;
  bool no_stonewall = false;
  bool stop_at_stonewall = false;
  double time_s = 0;
  double warmup_s = 0;
  double deadline_s = 0;
  bool wear_out = false;
  uint32_t repetitions = 1;
  bool rotate_clients = false;
  bool drop_caches = false;
  bool keep = false;
};

// Where the workers are and where results go.
struct PlaceOptions {
  std::string transport = "auto";
  uint32_t spawn = 0;
  std::string listen;
  uint32_t workers = 0;
  double join_timeout_s = 600;
  bool insecure = false;
  std::string out;
  bool progress = false;
  bool force = false;
};

struct CommandLine {
  Command command = Command::kRun;
  WorkOptions work;
  PlaceOptions place;
  bool print_plan = false;
  bool dry_run = false;
  std::string join;       // worker
  uint32_t simulate = 1;  // worker: so many workers in this process; selftest: simulated workers
  bool spawned = false;   // worker: started by --spawn
  std::string report_directory;
  std::string clean_directory;
  uint32_t selftest_phases = 20;
  std::string text;  // kText: print this and exit 0 (help, version)
};

// `arguments` without the program's name. InvalidArgument: one line that says what to do.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_CLI_H_

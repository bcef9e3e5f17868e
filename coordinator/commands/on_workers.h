// What the commands have in common that need the workers of a run: from the options to a checked plan on a transport.
#ifndef COORDINATOR_COMMANDS_ON_WORKERS_H_
#define COORDINATOR_COMMANDS_ON_WORKERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/options/command_options.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

struct ResumePoint;
struct Stage;

// How a command differs from the others. Functions are called in this order; those that may be missing are null.
struct JobSpec {
  const JobOptions& options;

  // Returns the exit code if the options ask for something that needs no worker. `prints`: false on MPI ranks other than 0,
  // which must stay silent.
  std::function<std::optional<int>(bool prints)> without_workers = nullptr;
  // Checks what can be checked before the plan exists.
  std::function<absl::Status()> before_plan = nullptr;

  bool has_plan = true;            // false: selftest
  bool print_plan = false;         // print the plan, and stop
  std::string resume = {};         // directory of a saved run, whose plan is used; empty: a new run
  bool list_says_workers = false;  // with a client list, -t says how many of its clients take part
  bool lanes_on_each_client = false;  // with a client list, all lanes run on each of its clients, except those of a mix
  bool writes_results = false;        // into --out
  bool dry_run = false;               // nothing is written after all
  bool has_own_method = false;        // as in PlanContext
  bool measures_servers = false;      // may have --server-path
  // Makes the plan that the options give the one of this command, before it is checked.
  std::function<absl::Status(v1::Plan& plan)> adapt_plan = nullptr;
  std::function<absl::Status(const v1::Plan& plan)> after_plan = nullptr;

  uint32_t simulate = 0;          // number of simulated workers; 0: real ones
  uint32_t lanes_per_worker = 1;  // of phases that the plan does not have yet
  // Runs the command once its workers are there, and returns the exit code.
  std::function<int(const Stage& stage, const v1::Plan& plan)> carry_out;
};

// Runs the command and returns the exit code; job_commands.h says how.
int OnWorkers(const JobSpec& job, const std::string& typed);

// Prints that a saved run has nothing left to do.
void SayComplete(const ResumePoint& point);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_ON_WORKERS_H_

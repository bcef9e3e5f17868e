// The command `preflight`: which clients cannot take part in a run of the plan, and why.
#include <unistd.h>

#include <iostream>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/text/terminal_width.h"
#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/commands/conductor_setup.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/preflight/preflight_text.h"
#include "coordinator/process/failure.h"

namespace iobench {
namespace {

// Prints all faults, as a table or as JSON, and leaves nothing behind. kExitUsage: a fault would stop the run.
int Preflight(const Stage& stage, const PreflightCommand& line, v1::Plan plan) {
  ConductorOptions options = OptionsFor(stage, line);
  options.on_fault = OnFault::kList;
  RunObserver nobody;
  Cluster cluster(stage.transport, options.run_id, stage.interrupt, options.patience, options.clock);
  Assembly assembly(cluster, options, stage.coordinator, plan);
  const auto look = assembly.Assemble(nobody, WallClockIso8601());
  if (!look.ok()) {
    assembly.Refuse(look.status());
    return Fail(look.status(), assembly.ExitOfRefusal(stage.interrupt));
  }
  cluster.Dismiss();
  std::cout << (line.format == "json" ? PreflightJson(assembly.preflight()) : PreflightText(assembly.preflight(), TextColumns(STDOUT_FILENO)));
  return ExitOfPrinting(FaultCount(assembly.preflight()) > 0 ? kExitUsage : kExitOk, kExitIo);
}

}  // namespace

int Execute(const PreflightCommand& preflight, const std::string& typed) {
  return OnWorkers({.options = preflight,
                    .list_says_workers = true,
                    .adapt_plan =
                        [](v1::Plan& plan) {
                          plan.clear_server_path();  // it checks clients
                          return absl::OkStatus();
                        },
                    .carry_out =
                        [&preflight](const Stage& stage, const v1::Plan& plan) {
                          return Preflight(stage, preflight, plan);
                        }},
                   typed);
}

}  // namespace iobench

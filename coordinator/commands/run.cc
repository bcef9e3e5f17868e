#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/commands/run_command.h"
#include "coordinator/saved_run/run_documents.h"

namespace iobench {

int Execute(const RunCommand& run, const std::string& typed) {
  return OnWorkers({.options = run,
                    .print_plan = run.print_plan,
                    .resume = run.cluster.resume,
                    .list_says_workers = true,
                    .writes_results = true,
                    .measures_servers = true,
                    .after_plan = [&run] { return CheckDocuments(run.cluster, IozoneOutputOf(run.given)); },
                    .carry_out =
                        [&run](const Stage& stage, const v1::Plan& plan) {
                          return run.cluster.net_test ? NetTest(stage, run) : RunPlan(stage, run, plan);
                        }},
                   typed);
}

}  // namespace iobench

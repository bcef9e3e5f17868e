#include "absl/status/status.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/commands/run_command.h"

namespace iobench {

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

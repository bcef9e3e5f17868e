#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/commands/run_command.h"

namespace iobench {

int Execute(const SelftestCommand& selftest, const std::string& typed) {
  return OnWorkers({.options = selftest,
                    .has_plan = false,
                    .simulate = selftest.simulate,
                    .lanes_per_worker = selftest.lanes,
                    .carry_out = [&selftest](const Stage& stage,
                                             const v1::Plan&) { return Selftest(stage, selftest); }},
                   typed);
}

}  // namespace iobench

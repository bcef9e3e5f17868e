#include <optional>

#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/process/failure.h"
#include "coordinator/commands/run_command.h"

namespace iobench {

int Execute(const CapacityCommand& capacity, const std::string& typed) {
  const auto show_saved = [&capacity](bool prints) -> std::optional<int> {
    if (capacity.capacity.saved.empty()) return std::nullopt;
    return prints ? ShowSavedCapacity(capacity) : int{kExitOk};
  };
  return OnWorkers(
      {.options = capacity,
       .without_workers = show_saved,
       .lanes_on_each_client = true,
       .writes_results = true,
       .adapt_plan = [&capacity](v1::Plan& plan) { return FitPlanToCapacity(capacity, plan); },
       .carry_out =
           [&capacity](const Stage& stage, const v1::Plan& plan) { return Capacity(stage, capacity, plan); }},
      typed);
}

}  // namespace iobench

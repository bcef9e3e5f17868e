#include <iostream>
#include <optional>

#include "absl/status/status.h"
#include "common/status_util.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/process/failure.h"
#include "coordinator/commands/run_command.h"
#include "coordinator/validate/choice.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {

int Execute(const ValidateCommand& validate, const std::string& typed) {
  std::optional<PhaseAmounts> measured;  // by the checks of performance; nullopt: nothing
  const auto list = [&validate](bool prints) -> std::optional<int> {
    if (!validate.validate.list) return std::nullopt;
    if (prints) std::cout << ListOfChecks() << std::flush;
    return kExitOk;
  };
  const auto check_options = [&]() -> absl::Status {
    IOBENCH_ASSIGN_OR_RETURN(const CheckChoice choice, ChoiceFrom(validate.validate));
    IOBENCH_RETURN_IF_ERROR(CheckValidateReport(validate.validate));
    if (choice.measures) measured = choice.amounts;
    return absl::OkStatus();
  };
  const auto use_phases = [&measured](v1::Plan& plan) {
    if (measured.has_value()) {
      UsePerformancePhases(*measured, plan);
      CompletePlan(plan);
    }
    return absl::OkStatus();
  };
  return OnWorkers({.options = validate,
                    .without_workers = list,
                    .before_plan = check_options,
                    .adapt_plan = use_phases,
                    .carry_out =
                        [&validate](const Stage& stage, const v1::Plan& plan) {
                          return Validate(stage, validate, plan);
                        }},
                   typed);
}

}  // namespace iobench

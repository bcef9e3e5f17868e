// Plans of command lines, as `run` builds and checks them.
#ifndef TESTS_UNIT_PLAN_FOR_H_
#define TESTS_UNIT_PLAN_FOR_H_

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/text/units.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "tests/support/command_words.h"

namespace iobench {

inline absl::StatusOr<v1::Plan> PlanFor(const std::string& words) {
  const std::vector<std::string> arguments = absl::StrSplit(words, ' ', absl::SkipEmpty());
  auto line = JobFrom(arguments);
  if (!line.ok()) return line.status();
  auto plan = BuildPlan(line->given, {.default_lanes = 2, .worker_count = 4, .memory_bytes = 1_GiB});
  if (!plan.ok()) return plan;
  if (absl::Status status = CheckPlan(*plan); !status.ok()) return status;
  return plan;
}

inline std::string ErrorOf(const std::string& words) {
  const auto plan = PlanFor(words);
  return plan.ok() ? "" : std::string(plan.status().message());
}

inline std::vector<std::string> PhasesOf(const std::string& words) {
  const auto plan = PlanFor(words);
  std::vector<std::string> names;
  if (!plan.ok()) return {std::string(plan.status().message())};
  for (const v1::Phase& phase : plan->phases()) names.push_back(phase.name());
  return names;
}

}  // namespace iobench

#endif  // TESTS_UNIT_PLAN_FOR_H_

// Plans in which all ranks must take part, and runs in which some do not.
#include "coordinator/plan/check/ranks_check.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

v1::Plan PlanOfPhases(bool last_is_collective) {
  v1::Plan plan;
  plan.add_phases()->add_assignments();
  plan.add_phases()->add_assignments()->mutable_operation()->mutable_mpi_io()->set_collective(last_is_collective);
  return plan;
}

TEST_CASE("nobody is left out of a run with a collective phase; the refusal names them and what to do") {
  const std::string refusal(CheckAllRanksTakePart(PlanOfPhases(true), {"n7 (it cannot write)", "n8 (no space)"}).message());
  for (const char* part : {"--collective", "n7 (it cannot write), n8 (no space)", "start the run without these clients",
                           "omit --skip-bad"}) {
    INFO(part);
    CHECK(refusal.find(part) != std::string::npos);
  }
  CHECK(refusal.find('\n') == std::string::npos);
  CHECK(CheckAllRanksTakePart(PlanOfPhases(true), {}).ok());
  CHECK(CheckAllRanksTakePart(PlanOfPhases(false), {"n7 (it cannot write)"}).ok());
}

TEST_CASE("a run that adds phases on some of its clients is not collective, unless there is only one") {
  CHECK(absl::IsInvalidArgument(CheckOneClientIfCollective(PlanOfPhases(true), 2)));
  CHECK(CheckOneClientIfCollective(PlanOfPhases(true), 1).ok());
  CHECK(CheckOneClientIfCollective(PlanOfPhases(false), 2).ok());
}

}  // namespace
}  // namespace iobench

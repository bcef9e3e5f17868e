// Criteria are checked against the plan before anything is written.
#include "coordinator/plan/check/criteria_check.h"

#include <string>

#include "absl/strings/match.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

v1::Plan PlanOf(std::initializer_list<const char*> operations, const std::string& criterion) {
  v1::Plan plan;
  for (const char* const name : operations) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(name);
    phase.add_assignments()->mutable_operation()->set_name(name);
  }
  plan.add_criteria(criterion);
  return plan;
}

TEST_CASE("criteria of phases that the plan has are accepted") {
  for (const char* const criterion :
       {"write>=1MiB/s", "create>=1ops/s", "*>=1MiB/s", "*:marks=none", "read:p99<=1s"}) {
    INFO(criterion);
    CHECK(CheckCriteria(PlanOf({"write", "read", "create"}, criterion)).ok());
  }
  CHECK(CheckCriteria(v1::Plan()).ok());
}

TEST_CASE("a criterion for a phase that the plan lacks is refused with similar names") {
  const absl::Status status = CheckCriteria(PlanOf({"write", "random-read"}, "randm-read>=1MiB/s"));
  CHECK(absl::IsInvalidArgument(status));
  CHECK(absl::StrContains(status.message(), "no phase \"randm-read\""));
  CHECK(absl::StrContains(status.message(), "did you mean random-read?"));
  const absl::Status unlike = CheckCriteria(PlanOf({"write", "random-read"}, "zzz>=1MiB/s"));
  CHECK(absl::StrContains(unlike.message(), "it has write, random-read"));
}

TEST_CASE("metadata operations have no bytes per second to reach") {
  CHECK(absl::StrContains(CheckCriteria(PlanOf({"write", "create"}, "create>=1MiB/s")).message(), "ops/s"));
  CHECK(absl::StrContains(CheckCriteria(PlanOf({"create"}, "*>=1MiB/s")).message(),
                          "only metadata operations"));
}

}  // namespace
}  // namespace iobench

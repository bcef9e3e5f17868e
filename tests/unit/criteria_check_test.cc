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

TEST_CASE("a criterion on a flush call needs a phase that makes it") {
  const auto checked = [](const std::string& criterion) {
    v1::Plan plan = PlanOf({"write", "read"}, criterion);
    for (v1::Phase& phase : *plan.mutable_phases())
      phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
    plan.mutable_phases(0)->mutable_region()->set_fsync(true);
    plan.mutable_phases(1)->mutable_region()->set_close(true);
    return CheckCriteria(plan);
  };
  CHECK(checked("write:fsync:p99<=1s").ok());
  CHECK(checked("fsync:p99<=1s").ok());
  CHECK(checked("read:close:p99<=1s").ok());
  CHECK(absl::StrContains(checked("read:fsync:p99<=1s").message(), "phase \"read\" makes no fsync call"));
  CHECK(absl::StrContains(checked("read:fsync:p99<=1s").message(), "in its timed region: add -e or --fsync-every N"));
  CHECK(absl::StrContains(checked("write:close:p99<=1s").message(), "add -c"));
  // What makes data durable in place of the call is probably meant.
  CHECK(absl::StrContains(checked("fdatasync:p99<=1s").message(), "no phase makes a fdatasync call"));
  CHECK(absl::StrContains(checked("fdatasync:p99<=1s").message(), "makes a fdatasync call in its timed region, but fsync: write fsync in its place"));
}

// A phase "night" in which some workers do one operation while others do another.
void AddNight(std::initializer_list<const char*> operations, v1::Plan& plan) {
  v1::Phase& night = *plan.add_phases();
  night.set_name("night");
  for (const char* const name : operations) night.add_assignments()->mutable_operation()->set_name(name);
}

TEST_CASE("a criterion for an operation that is only a part of a phase is refused with the phase's name") {
  for (const char* const criterion : {"read>=1MiB/s", "stat:p99<=1s"}) {
    v1::Plan plan = PlanOf({"write"}, criterion);
    AddNight({"read", "stat"}, plan);
    const absl::Status status = CheckCriteria(plan);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(absl::StrContains(status.message(), "is only a part of phase \"night\""));
  }
  for (const char* const criterion : {"night:p99<=1s", "read+stat>=1MiB/s", "write>=1MiB/s"}) {
    INFO(criterion);
    v1::Plan plan = PlanOf({"write"}, criterion);
    AddNight({"read", "stat"}, plan);
    CHECK(CheckCriteria(plan).ok());
  }
}

TEST_CASE("a part of one phase that is the whole of another is refused unless it is the other one's name") {
  v1::Plan plan = PlanOf({"read"}, "read>=1MiB/s");
  AddNight({"stat", "read"}, plan);
  CHECK(CheckCriteria(plan).ok());
  plan.mutable_phases(0)->set_name("read 64k");
  CHECK(absl::StrContains(CheckCriteria(plan).message(), "is only a part of phase \"night\""));
  plan.set_criteria(0, "read 64k>=1MiB/s");
  CHECK(CheckCriteria(plan).ok());
}

TEST_CASE("the names that are offered for a criterion are those of whole phases") {
  v1::Plan plan = PlanOf({"write"}, "zzz>=1MiB/s");
  AddNight({"read", "stat"}, plan);
  CHECK(absl::StrContains(CheckCriteria(plan).message(), "; it has write, read+stat, night"));
}

TEST_CASE("metadata operations have no bytes per second to reach") {
  CHECK(absl::StrContains(CheckCriteria(PlanOf({"write", "create"}, "create>=1MiB/s")).message(), "ops/s"));
  CHECK(absl::StrContains(CheckCriteria(PlanOf({"create"}, "*>=1MiB/s")).message(),
                          "only metadata operations"));
}

}  // namespace
}  // namespace iobench

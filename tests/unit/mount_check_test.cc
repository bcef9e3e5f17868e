#include "coordinator/plan/check/mount_check.h"

#include <catch2/catch.hpp>
#include <string>

namespace iobench {
namespace {

// A plan of one phase, a write by `engine`, on these targets.
v1::Plan PlanOf(const std::string& engine, const std::vector<std::string>& paths) {
  v1::Plan plan;
  for (const std::string& path : paths) plan.add_targets()->set_path(path);
  v1::Phase& phase = *plan.add_phases();
  phase.set_name("write");
  v1::Operation& operation = *phase.add_assignments()->mutable_operation();
  operation.set_name("write");
  operation.set_engine(engine);
  return plan;
}

std::string Refusal(const absl::Status& status) {
  REQUIRE(absl::IsInvalidArgument(status));
  return std::string(status.message());
}

TEST_CASE("an engine and its target both have a mount, or neither has") {
  REQUIRE(CheckMounts(PlanOf("posix", {"/mnt/nfs"})).ok());
  REQUIRE(CheckMounts(PlanOf("libnfs", {"nfs://server/export"})).ok());
  REQUIRE(CheckMounts(PlanOf("null", {"nfs://server/export"})).ok());
  REQUIRE(CheckMounts(PlanOf("null", {"/mnt/nfs"})).ok());
  const std::string no_mount = Refusal(CheckMounts(PlanOf("posix", {"nfs://server/export"})));
  REQUIRE_THAT(no_mount, Catch::Contains("--engine posix") && Catch::Contains("nfs://server/export") &&
                             Catch::Contains("--engine libnfs"));
  const std::string no_url = Refusal(CheckMounts(PlanOf("libnfs", {"/mnt/nfs"})));
  REQUIRE_THAT(
      no_url, Catch::Contains("--engine libnfs") && Catch::Contains("/mnt/nfs") && Catch::Contains("nfs://"));
}

TEST_CASE("a URL that is none is refused with what is wrong in it") {
  REQUIRE_THAT(Refusal(CheckMounts(PlanOf("libnfs", {"nfs://server/export?dircache=1"}))),
               Catch::Contains("dircache"));
}

TEST_CASE("of targets of both kinds each worker needs its own") {
  v1::Plan plan = PlanOf("libnfs", {"/mnt/nfs", "nfs://server/export"});
  REQUIRE(CheckMounts(plan).ok());
  const std::string refusal = Refusal(CheckMountsOfWorkers(plan, 2));
  REQUIRE_THAT(refusal, Catch::Contains("worker 0") && Catch::Contains("/mnt/nfs"));
  plan.mutable_targets(0)->mutable_who()->add_workers(0);
  plan.mutable_targets(1)->mutable_who()->add_workers(1);
  plan.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(1);
  v1::Assignment& mounted = *plan.mutable_phases(0)->add_assignments();
  mounted.mutable_operation()->set_name("write");
  mounted.mutable_operation()->set_engine("posix");
  REQUIRE(CheckMountsOfWorkers(plan, 2).ok());
  mounted.mutable_operation()->set_engine("libnfs");
  REQUIRE_THAT(Refusal(CheckMountsOfWorkers(plan, 2)), Catch::Contains("worker 0"));
}

TEST_CASE("steps for a mount or the client's memory are refused where there is neither") {
  for (const bool remounts : {true, false}) {
    v1::Plan plan = PlanOf("libnfs", {"nfs://server/export"});
    v1::Phase& phase = *plan.mutable_phases(0);
    phase.add_before()->mutable_rest()->set_seconds(1);
    REQUIRE(CheckMounts(plan).ok());
    if (remounts) phase.add_before()->mutable_remount()->set_mount_point("/mnt");
    if (!remounts) phase.add_before()->mutable_drop_caches();
    REQUIRE_THAT(Refusal(CheckMounts(plan)),
                 Catch::Contains(remounts ? "-U" : "--drop-caches") && Catch::Contains("libnfs"));
    phase.mutable_assignments(0)->mutable_operation()->set_engine("posix");
    plan.mutable_targets(0)->set_path("/mnt/nfs");
    REQUIRE(CheckMounts(plan).ok());
  }
}

TEST_CASE("steps of a phase without assignments are no fault of theirs") {
  v1::Plan plan = PlanOf("posix", {"/mnt/nfs"});
  plan.mutable_phases(0)->clear_assignments();
  plan.mutable_phases(0)->add_before()->mutable_drop_caches();
  CHECK(CheckSteps(plan, "plan x.yaml").ok());
}

TEST_CASE("a directory without a worker is an error, since nobody would test it") {
  v1::Plan plan = PlanOf("posix", {"/a", "/b", "/c"});
  CHECK(CheckTargetsHaveWorkers(plan, 3).ok());
  CHECK(CheckTargetsHaveWorkers(plan, 4).ok());
  CHECK_THAT(Refusal(CheckTargetsHaveWorkers(plan, 2)), Catch::Contains("more directories than workers") &&
                                                            Catch::Contains("there are 2") &&
                                                            Catch::Contains("test /c:"));
  plan.mutable_targets(2)->mutable_who()->add_workers(0);  // chosen by name: now /a has none
  CHECK_THAT(Refusal(CheckTargetsHaveWorkers(plan, 2)), Catch::Contains("test /a:"));
  plan.mutable_files()->add_existing_files("/a/mine");
  CHECK(CheckTargetsHaveWorkers(plan, 2).ok());
}

}  // namespace
}  // namespace iobench

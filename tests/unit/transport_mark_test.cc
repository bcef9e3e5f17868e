// --each-path over mounts that send over the same connections.
#include <catch2/catch.hpp>
#include <string>

#include "coordinator/analysis/marks/marks.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two mounts of one server that are measured one after the other; this phase uses the second.
PhaseScript SecondOfTwoMounts() {
  PhaseScript script("read");
  script.run.mutable_plan()->add_targets()->set_path("/mnt/b");
  for (const uint32_t target : {1u, 2u}) script.run.mutable_plan()->add_phases()->set_only_target(target);
  script.plan().set_only_target(2);
  script.Lane(0).Moves(10_GiB).EndsAt(10_s).InOps(1000);
  v1::WorkerTargets& targets = script.Worker(0).targets;
  *targets.add_targets() = targets.targets(0);
  for (const int target : {0, 1}) {
    v1::TargetFacts& facts = *targets.mutable_targets(target);
    facts.set_mount_point(target == 0 ? "/mnt/test" : "/mnt/b");
    facts.add_connections(target == 0 ? "tcp 10.0.0.1 800" : "tcp 10.0.0.1 801");
  }
  return script;
}

bool IsMarked(const PhaseScript& script) {
  return HasMark(script.Report(), "shared_transport");
}

TEST_CASE("shared_transport: the mounts of two paths have a connection in common") {
  PhaseScript script = SecondOfTwoMounts();
  CHECK_FALSE(IsMarked(script));
  v1::TargetFacts& second = *script.Worker(0).targets.mutable_targets(1);
  second.add_connections("tcp 10.0.0.1 800");
  REQUIRE(IsMarked(script));
  const v1::PhaseReport report = script.Report();
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() != "shared_transport") continue;
    CHECK(mark.subject() == "node1");
    CHECK(mark.value() == 1);
    CHECK(mark.text().find("send over the same connection to their server") != std::string::npos);
  }
  SECTION("two directories of one mount share it on purpose") {
    second.set_mount_point("/mnt/test");
    CHECK_FALSE(IsMarked(script));
  }
  SECTION("paths that are used at the same time are not compared") {
    script.plan().clear_only_target();
    CHECK_FALSE(IsMarked(script));
  }
}

}  // namespace
}  // namespace iobench

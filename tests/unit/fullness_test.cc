#include "coordinator/analysis/phase/fullness.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "common/model/plan_traits.h"
#include "common/text/units.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::Space Space(uint64_t total, uint64_t free, uint64_t available) {
  v1::Space space;
  space.set_total_bytes(total);
  space.set_free_bytes(free);
  space.set_available_bytes(available);
  return space;
}

TEST_CASE("a file system is as full as df shows it: what is reserved for root is no space") {
  // 5 % of 100 GiB are reserved, 57 GiB in use: 57 of 95.
  const v1::Space space = Space(100_GiB, 43_GiB, 38_GiB);
  CHECK(UsedPercent(space) == Approx(60));
  CHECK(BytesToFill(space, 80) == 19_GiB);
  CHECK(BytesToFill(space, 60) == 0);
  CHECK(BytesToFill(space, 59) == 0);
  CHECK(BytesToFill(space, 100) == 38_GiB);
  CHECK(BytesToFill(v1::Space(), 80) == 0);  // unknown
  CHECK(std::isnan(UsedPercent(v1::Space())));
  CHECK(UsedPercent(Space(100_GiB, 200_GiB, 50_GiB)) == 0);  // what no server should say
}

// Two clients with a lane each, on targets of which `percent` of 100 GiB is in use.
PhaseScript OnDisks(uint64_t first_percent, uint64_t second_percent) {
  PhaseScript script("write");
  for (const uint32_t n : {0u, 1u}) {
    const uint64_t free = (100 - (n == 0 ? first_percent : second_percent)) * 1_GiB;
    script.Lane(n).Moves(1_MiB).EndsAt(2_s).InOps(1000);
    script.Worker(n).RunsOn("node" + std::to_string(n), "boot" + std::to_string(n));
    script.Worker(n).host.mutable_spaces()->insert({0, Space(100_GiB, free, free)});
    script.Worker(n).targets.mutable_targets(0)->set_filesystem_id("disk " + std::to_string(n));
  }
  script.run.mutable_plan()->add_targets()->set_path("/mnt/data");
  return script;
}

TEST_CASE(
    "a phase says how full each target's file system was, and of several the fullest and the emptiest") {
  PhaseScript script = OnDisks(40, 60);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.fullness_size() == 1);
  const v1::FullnessReport& target = report.fullness(0);
  CHECK(target.path() == script.run.plan().targets(0).path());
  CHECK(target.filesystem_count() == 2);
  CHECK(target.client() == "node1");
  CHECK(target.percent() == Approx(60));
  CHECK(target.least_percent() == Approx(40));
  CHECK(target.used_bytes() == 60_GiB);
  CHECK(target.total_bytes() == 100_GiB);

  for (const uint32_t n : {0u, 1u}) script.Worker(n).targets.mutable_targets(0)->set_filesystem_id("shared");
  CHECK(script.Report().fullness(0).filesystem_count() == 1);
  CHECK(script.Report().fullness(0).client().empty());
}

TEST_CASE("a worker that uses only the second target is recognised by the file system of that target") {
  PhaseScript script = OnDisks(40, 60);
  script.run.mutable_plan()->add_targets()->set_path("/mnt/second");
  for (const uint32_t n : {0u, 1u}) {
    auto& spaces = *script.Worker(n).host.mutable_spaces();
    spaces.insert({1, spaces[0]});
    spaces.erase(0);
    script.Worker(n).targets.mutable_targets(0)->set_filesystem_id("shared");
    script.Worker(n).targets.add_numbers(1);
  }
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.fullness_size() == 1);
  CHECK(report.fullness(0).filesystem_count() == 1);
  CHECK(report.fullness(0).client().empty());
}

TEST_CASE("an unknown space is left out, and so is a target that the plan does not have") {
  PhaseScript script = OnDisks(40, 60);
  for (const uint32_t n : {0u, 1u}) {
    (*script.Worker(n).host.mutable_spaces())[0].Clear();
    script.Worker(n).host.mutable_spaces()->insert({77, Space(100_GiB, 1_GiB, 1_GiB)});
  }
  CHECK(script.Report().fullness_size() == 0);
}

}  // namespace
}  // namespace iobench

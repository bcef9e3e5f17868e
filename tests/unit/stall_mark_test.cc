#include <catch2/catch.hpp>
#include <string>

#include "coordinator/analysis/marks/marks.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two clients, 10 s, 1000 ops of 10 ms a lane; the first has two lanes.
PhaseScript Healthy() {
  PhaseScript script("read", 2);
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(10_s).InOps(1000).OpsTake(10_ms);
  script.Worker(1).RunsOn("node2", "boot2").HasClock(3600, 10e-6, {0, 10});
  return script;
}

std::vector<v1::Mark> Stalls(const PhaseScript& script) {
  std::vector<v1::Mark> stalls;
  const v1::PhaseReport report = script.Report();
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() == "stalled") stalls.push_back(mark);
  }
  return stalls;
}

TEST_CASE("stalled: no op of a lane ended for 10 % of the phase, or a second") {
  PhaseScript script = Healthy();
  CHECK(Stalls(script).empty());
  script.Lane(0).Stalls(2_s, 2.999_s);
  CHECK(Stalls(script).empty());
  script.Lane(0).Stalls(2_s, 3.1_s);
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].value() == Approx(1.1));
  CHECK(Stalls(script)[0].threshold() == Approx(1));
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(20_s);
  CHECK(Stalls(script).empty());
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(3_s);  // under a second nothing is long
  script.Lane(0).Stalls(1_s, 1.9_s);
  CHECK(Stalls(script).empty());
}

TEST_CASE("stalled says who, where, when and for how long, on the phase's axis") {
  PhaseScript script = Healthy();
  script.Lane(2).Stalls(2.25_s, 7.25_s);
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].subject() == "node2");
  CHECK(
      Stalls(script)[0].text() ==
      "worker 1 lane 2 (lane2) completed no op for 5 s, from 2.25 s to 7.25 s of the phase: find out what stopped "
      "the client or the server then, and repeat");
  script.Lane(0).Stalls(2_s, 5_s);
  script.Lane(1).Stalls(2_s, 6_s);
  REQUIRE(Stalls(script).size() == 2);
  CHECK(Stalls(script)[0].subject() == "node1");
  CHECK(Stalls(script)[0].value() == Approx(4));
  CHECK(Stalls(script)[0].text().find("worker 0 lane 1 (lane1)") != std::string::npos);
  CHECK(Stalls(script)[0].text().find("; 2 of 2 lanes stalled: ") != std::string::npos);
}

TEST_CASE("ops that all take seconds are slow, not stalled") {
  PhaseScript script = Healthy();
  script.Lane(0).InOps(5).OpsTake(2_s).Stalls(4_s, 6_s);
  CHECK(Stalls(script).empty());
  script.Lane(0).InOps(10).OpsTake(0.5_s).Stalls(4_s, 9_s);
  CHECK(Stalls(script).size() == 1);
}

}  // namespace
}  // namespace iobench

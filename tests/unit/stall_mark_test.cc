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

TEST_CASE("stalled: no op of a lane ended for over a second and 100 times the p99.9 of its other ops") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(600_s).InOps(30000).OpsTake(20_ms);
  CHECK(Stalls(script).empty());
  script.Lane(0).Gap(2_s, 3.9_s).OneOpTakes(1.9_s);
  CHECK(Stalls(script).empty());
  script.Lane(1).Gap(2_s, 4.1_s).OneOpTakes(2.1_s);
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].value() == Approx(2.1));
  CHECK(Stalls(script)[0].threshold() == Approx(2).epsilon(0.01));
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).OpsTake(2_ms);  // under a second nothing is long
  script.Lane(0).Gap(5_s, 6_s);
  CHECK(Stalls(script)[0].threshold() == Approx(1));
  CHECK(Stalls(script)[0].text().find("5.00 s") == std::string::npos);
}

TEST_CASE("a stop of 45 s in ten minutes is a stall, and so are several, although they are the p99.9 of few ops") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(600_s).InOps(5000).OpsTake(0.1_s);
  for (const double at_s : {50.0, 150.0, 250.0, 350.0, 450.0, 540.0}) {
    script.Lane(0).Gap(at_s, at_s + 45).OneOpTakes(45_s);
  }
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].value() == Approx(45));
  CHECK(Stalls(script)[0].threshold() == Approx(10).epsilon(0.01));
}

TEST_CASE("with slow ops, a stop of 10 % of the phase is a stall") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).InOps(100).OpsTake(0.1_s);
  script.Lane(0).Gap(2_s, 3.1_s);
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].threshold() == Approx(1));
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(20_s);
  CHECK(Stalls(script).empty());
}

TEST_CASE("a flush between two passes takes as long as there are bytes to flush") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(100_s).InOps(30000).OpsTake(1_ms);
  script.Lane(0).Gap(2_s, 10_s, /*flushed=*/true);
  CHECK(Stalls(script).empty());
  script.Lane(0).Gap(20_s, 30.5_s, /*flushed=*/true);
  CHECK(Stalls(script).size() == 1);
}

TEST_CASE("records of earlier versions know only the longest stall") {
  PhaseScript script = Healthy();
  script.Lane(0).Stalls(2_s, 2.999_s);
  CHECK(Stalls(script).empty());
  script.Lane(0).Stalls(2_s, 3.1_s);
  CHECK(Stalls(script).size() == 1);
}

TEST_CASE("stalled also says when else the client's lanes stood still") {
  PhaseScript script = Healthy();
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).OpsTake(1_ms);
  script.Lane(0).Gap(1_s, 2.5_s).Gap(4_s, 6_s).Gap(7_s, 8.25_s);
  script.Lane(1).Gap(4.1_s, 6_s);
  REQUIRE(Stalls(script).size() == 1);
  CHECK(Stalls(script)[0].text().find("for 2 s, from 4.00 s to 6.00 s of the phase; also from 1.00 s to 2.50 s, from 7.00 "
                                      "s to 8.25 s; 2 of 2 lanes stalled: ") != std::string::npos);
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

// When the lanes of a client made no progress.
#include <catch2/catch.hpp>

#include "coordinator/analysis/pauses.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

// Two clients, 10 s; the first has two lanes, the clock of the second is an hour ahead.
PhaseScript TwoClients() {
  PhaseScript script("write", 2);
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(10_s).InOps(1000).Writes();
  script.Worker(1).RunsOn("node2", "boot2").HasClock(3600, 10e-6, {0, 10});
  return script;
}

TEST_CASE("a client's longest pause is that of any of its lanes, on the phase's axis") {
  PhaseScript script = TwoClients();
  script.Lane(1).Stalls(2_s, 2.4_s);
  script.Lane(2).Stalls(3_s, 7_s);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).pauses().longest_s() == Approx(0.4));
  CHECK(report.clients(0).pauses().stalls() == 0);
  const v1::PauseReport& second = report.clients(1).pauses();
  CHECK(second.longest_s() == Approx(4));
  CHECK(second.longest_begin_s() == Approx(3).margin(0.001));
  CHECK(second.part() == "ops");
  CHECK(second.stalls() == 1);
  CHECK(second.stalled_s() == Approx(4));
}

TEST_CASE("pauses of lanes at the same time are one stall, and count once") {
  PhaseScript script = TwoClients();
  script.Lane(0).Stalls(1_s, 4_s);
  script.Lane(1).Stalls(3_s, 6_s);
  CHECK(script.Report().clients(0).pauses().stalls() == 1);
  CHECK(script.Report().clients(0).pauses().stalled_s() == Approx(5));
  script.Lane(1).Stalls(5_s, 6.5_s);
  CHECK(script.Report().clients(0).pauses().stalls() == 2);
  CHECK(script.Report().clients(0).pauses().stalled_s() == Approx(4.5));
}

TEST_CASE("every stall of a lane counts, by the same rule as the mark") {
  PhaseScript script = TwoClients();
  script.Lane(0).Stalls(6_s, 9_s).Gap(1_s, 3_s).Gap(6_s, 9_s);
  CHECK(script.Report().clients(0).pauses().stalls() == 2);
  CHECK(script.Report().clients(0).pauses().stalled_s() == Approx(5));
  for (const uint32_t n : {0u, 1u, 2u}) script.Lane(n).EndsAt(100_s).OpsTake(0.1_s);  // 3 s are not much for them
  CHECK(script.Report().clients(0).pauses().stalls() == 0);
  CHECK(script.Report().clients(0).pauses().longest_s() == Approx(3));
}

TEST_CASE("a lane that waits for open, fsync or close makes no progress either") {
  PhaseScript script = TwoClients();
  script.Lane(0).Stalls(1_s, 1.5_s).Fsyncs(2_s).Closes(1.25_s);
  v1::PauseReport pauses = script.Report().clients(0).pauses();
  CHECK(pauses.part() == "fsync");
  CHECK(pauses.longest_begin_s() == Approx(10));
  CHECK(pauses.stalls() == 1);  // the close follows at once
  CHECK(pauses.stalled_s() == Approx(3.25));
  script.Lane(1).Opens(5_s);
  pauses = script.Report().clients(0).pauses();
  CHECK(pauses.part() == "open");
  CHECK(pauses.longest_begin_s() == Approx(-5));  // before the phase began
}

TEST_CASE("in a soak, a preparation that waits is a pause, but not what it writes or rests") {
  PhaseScript script = TwoClients();
  script.phase.set_prepare_s(6);
  const auto add = [&script](const char* name, double seconds, uint64_t bytes) {
    v1::StepResult& step = script.Worker(0).steps.emplace_back();
    step.set_name(name);
    step.set_seconds(seconds);
    step.set_bytes(bytes);
  };
  add("prefill", 1, 4096);
  add("rest", 1.5, 0);
  add("create-files", 0.25, 0);
  CHECK(script.Report().clients(0).pauses().part() != "prepare");
  add("prepare", 5, 0);
  const v1::PauseReport pauses = script.Report().clients(0).pauses();
  CHECK(pauses.part() == "prepare");
  CHECK(pauses.longest_s() == Approx(2.5));
  CHECK(pauses.longest_begin_s() == Approx(-6));
  CHECK(pauses.stalls() == 1);
}

TEST_CASE("a lane that failed has paused before that") {
  PhaseScript script = TwoClients();
  script.Lane(2).Stalls(1_s, 9_s).FailsWith(5);
  CHECK(script.Report().clients(1).pauses().longest_s() == Approx(8));
}

}  // namespace
}  // namespace iobench

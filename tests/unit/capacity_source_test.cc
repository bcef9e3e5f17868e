#include "coordinator/capacity/capacity_source.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "coordinator/plan/plan_builder.h"
#include "tests/support/scripted_workers.h"

namespace iobench {
namespace {

CapacitySettings OneClient() {
  return {.clients = 1, .max_lanes_per_worker = 1, .repetitions = 1, .points = 1, .measure_s = 5, .warmup_s = 1};
}

// A worker on each of these clients.
std::vector<Member> OnClients(const std::vector<uint32_t>& clients) {
  std::vector<Member> members(clients.size());
  for (uint32_t i = 0; i < clients.size(); ++i) {
    members[i].number = i;
    members[i].client = clients[i];
  }
  return members;
}

// A source that is asked for phases of a plan with one phase, on one worker. Each phase takes 6 s.
struct Capacity {
  ManualClock clock;
  const Interrupt interrupt;
  ScriptedWorkers nobody{clock, {}, [](WorkerId, const v1::WorkerRequest&) { return std::vector<v1::WorkerEvent>(); }};
  Cluster cluster{nobody, 1, interrupt, ClusterPatience(), [this] { return clock.now; }};
  v1::Plan plan = EmptyPhases(1, 1);
  v1::RunReport report;
  CapacitySource source;

  explicit Capacity(double max_duration_s = 0) : source(max_duration_s) {}

  std::optional<NextPhase> Next(const v1::PhaseReport* newest) {
    auto next = source.Next({.cluster = cluster, .plan = plan, .report = report, .begin = clock.now, .newest = newest});
    REQUIRE(next.ok());
    if (next->has_value() && (*next)->added.has_value()) *plan.add_phases() = *(*next)->added;
    clock.Advance(6 * kNanosPerSecond);
    return *std::move(next);
  }
};

v1::PhaseReport Measured() {
  v1::PhaseReport phase;
  phase.set_ops(1000);
  phase.set_lane_count(1);
  return phase;
}

TEST_CASE("the plan's own phase comes first and creates the files; the steps of the search follow, each a phase of its own") {
  Capacity run;
  REQUIRE(run.source.Begin(OnClients({0}), OneClient()).ok());
  const std::optional<NextPhase> first = run.Next(nullptr);
  REQUIRE(first.has_value());
  CHECK(first->place == 0);
  CHECK_FALSE(first->added.has_value());
  CHECK(first->goes_on);
  CHECK(run.source.search()->steps().empty());
  const v1::PhaseReport measured = Measured();
  const std::optional<NextPhase> step = run.Next(&measured);
  REQUIRE(step.has_value());
  REQUIRE(step->added.has_value());
  CHECK(step->phase_count == 2);
  CHECK(step->added->name() != run.plan.phases(0).name());
  CHECK(run.source.search()->steps().empty());  // what creates the files is part of no figure
  run.Next(&measured);
  CHECK(run.source.search()->steps().size() == 1);
}

TEST_CASE("a phase that did not run ends the search") {
  Capacity run;
  REQUIRE(run.source.Begin(OnClients({0}), OneClient()).ok());
  REQUIRE(run.Next(nullptr).has_value());
  CHECK_FALSE(run.Next(nullptr).has_value());
}

TEST_CASE("--max-duration that is too short is refused before anything is measured") {
  Capacity run(/*max_duration_s=*/1);
  CHECK(absl::IsInvalidArgument(run.source.Begin(OnClients({0}), OneClient())));
  CHECK(run.source.search() == nullptr);
}

TEST_CASE("workers are grouped by client, whatever their order") {
  CHECK(WorkersByClient(OnClients({1, 0, 1})) == std::vector<std::vector<uint32_t>>{{1}, {0, 2}});
}

}  // namespace
}  // namespace iobench

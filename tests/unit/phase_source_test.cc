// Where the phases of a run come from: the plan's own list, rounds, and sources that add phases.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "coordinator/plan/plan_builder.h"
#include "tests/unit/conductor_run.h"

namespace iobench {
namespace {

// Asks a source for phases as long as it has any. Time passes by `step_ns` with each.
struct Asked {
  ManualClock clock;
  const Interrupt interrupt;
  v1::Plan plan = EmptyPhases(1, 1);
  v1::RunReport report;
  int64_t step_ns = 0;

  Asked() { *plan.add_phases() = plan.phases(0); }
  std::vector<NextPhase> From(PhaseSource& source) {
    ScriptedWorkers nobody(clock, {}, [](WorkerId, const v1::WorkerRequest&) { return std::vector<v1::WorkerEvent>(); });
    Cluster cluster(nobody, 1, interrupt, ClusterPatience(), [this] { return clock.now; });
    const CoordTime begin = clock.now;
    std::vector<NextPhase> phases;
    while (phases.size() < 100) {
      auto next = source.Next({.cluster = cluster, .plan = plan, .report = report, .begin = begin});
      REQUIRE(next.ok());
      if (!next->has_value()) break;
      phases.push_back(**next);
      clock.Advance(step_ns);
    }
    return phases;
  }
};

TEST_CASE("the plan's phases come in order, as often as the plan repeats them; the last repetition goes on with none") {
  Asked asked;
  asked.plan.set_repetitions(3);
  PlanPhases source;
  const std::vector<NextPhase> phases = asked.From(source);
  REQUIRE(phases.size() == 6);
  for (size_t i = 0; i < 6; ++i) {
    CHECK(phases[i].place == static_cast<int>(i % 2));
    CHECK(phases[i].repetition == i / 2);
    CHECK(phases[i].phase_count == 6);
    CHECK(phases[i].goes_on == (i < 4));
    CHECK_FALSE(phases[i].added.has_value());
  }
}

TEST_CASE("a run that is resumed goes on in the middle of a repetition") {
  Asked asked;
  asked.plan.set_repetitions(2);
  const std::vector<NextPhase> phases = asked.From(*SourceOf(asked.plan, {.first_phase = 3}));
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].place == 1);
  CHECK(phases[0].repetition == 1);
}

TEST_CASE("phases that are measured again come first, with their own index") {
  Asked asked;
  asked.plan.set_repetitions(3);
  const std::vector<NextPhase> phases = asked.From(*SourceOf(asked.plan, {.first_phase = 5, .again = {0, 3}}));
  REQUIRE(phases.size() == 3);
  for (const size_t i : {0, 1, 2}) {
    const uint32_t index = std::vector<uint32_t>{0, 3, 5}[i];
    CHECK(phases[i].index == index);
    CHECK(phases[i].place == static_cast<int>(index % 2));
    CHECK(phases[i].repetition == index / 2);
    CHECK(phases[i].goes_on == (index < 4));
  }
}

TEST_CASE("a soak begins rounds until its time is over, finishes the last one, and may always go on") {
  Asked asked;
  asked.plan.set_soak_s(10);
  asked.step_ns = 3 * kNanosPerSecond;  // a round takes 6 s: the second begins in time, the third does not
  const std::vector<NextPhase> phases = asked.From(*SourceOf(asked.plan));
  REQUIRE(phases.size() == 4);
  CHECK(phases[3].place == 1);
  CHECK(phases[3].repetition == 1);
  CHECK(phases[0].phase_count == 2);
  CHECK(phases[3].phase_count == 4);
  for (const NextPhase& phase : phases) CHECK(phase.goes_on);
}

// Sets what the report says of the rounds so far.
void AreSteady(v1::RunReport& report, uint32_t rounds, bool steady) {
  report.mutable_steady()->set_rounds(rounds);
  report.mutable_steady()->set_steady(steady);
}

TEST_CASE("until steady, rounds begin until the report says that all phases are steady, and max-rounds at most") {
  Asked asked;
  asked.plan.set_repetitions(1);
  asked.plan.mutable_until_steady()->set_window_rounds(5);
  asked.plan.mutable_until_steady()->set_max_rounds(7);
  const std::vector<NextPhase> all = asked.From(*SourceOf(asked.plan));
  REQUIRE(all.size() == 14);
  CHECK(all[13].repetition == 6);
  CHECK(all[0].phase_count == 14);
  CHECK(all[11].goes_on);
  CHECK_FALSE(all[12].goes_on);
  // A run that is resumed after the sixth round, which was the first that was steady.
  AreSteady(asked.report, 6, true);
  CHECK(asked.From(*SourceOf(asked.plan, {.first_phase = 12})).empty());
  AreSteady(asked.report, 6, false);
  CHECK(asked.From(*SourceOf(asked.plan, {.first_phase = 12})).size() == 2);
  // In the middle of a round, that is completed whatever the ones before were.
  AreSteady(asked.report, 5, true);
  CHECK(asked.From(*SourceOf(asked.plan, {.first_phase = 11})).size() == 3);
  // Not before the report has all rounds: phases that are measured again come first.
  CHECK(asked.From(*SourceOf(asked.plan, {.first_phase = 12, .again = {3}})).size() == 3);
}

TEST_CASE("a plan without phases has none, in a soak too") {
  Asked asked;
  asked.plan.clear_phases();
  CHECK(asked.From(*SourceOf(asked.plan)).empty());
  asked.plan.set_soak_s(10);
  CHECK(asked.From(*SourceOf(asked.plan)).empty());
}

// Runs the plan's first phase, then two that it adds.
struct AddsTwo final : PhaseSource {
  std::vector<std::string> measured;
  absl::StatusOr<std::optional<NextPhase>> Next(const PhasesSoFar& so_far) override {
    if (so_far.newest != nullptr) measured.push_back(so_far.newest->name());
    if (measured.size() == 3) return std::nullopt;
    NextPhase next{.place = 0, .added = {}, .phase_count = 3, .goes_on = true};
    if (!measured.empty()) {
      next.added = so_far.plan.phases(0);
      next.added->set_name("added after " + measured.back());
    }
    return next;
  }
};

TEST_CASE("phases that a source adds join the one plan of the run, that of its record; the source sees each one's figures") {
  Run run;
  run.plan = EmptyPhases(1, 1);
  AddsTwo source;
  run.source = &source;
  REQUIRE(run.Go() == kExitOk);
  const std::string first = run.plan.phases(0).name();
  const std::vector<std::string> names = {first, "added after " + first, "added after added after " + first};
  CHECK(source.measured == names);
  REQUIRE(run.conductor->record().plan().phases_size() == 3);
  REQUIRE(run.conductor->report().run().plan().phases_size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(run.conductor->record().plan().phases(i).name() == names[static_cast<size_t>(i)]);
    CHECK(run.conductor->report().run().plan().phases(i).name() == names[static_cast<size_t>(i)]);
    CHECK(run.phases[static_cast<size_t>(i)].name() == names[static_cast<size_t>(i)]);
  }
}

}  // namespace
}  // namespace iobench

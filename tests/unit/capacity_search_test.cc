#include "coordinator/capacity/capacity_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "catch2/catch.hpp"
#include "coordinator/capacity/capacity_phases.h"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;
using Levels = std::vector<uint32_t>;

CapacitySettings Settings() {
  return {.clients = 4,
          .max_lanes_per_worker = 8,
          .repetitions = 2,
          .points = 5,
          .measure_s = 5,
          .warmup_s = 1,
          .slo = *ParseSlo("mean<=8ms")};
}

// One server of 1,000 ops/s and 4 ms beside it: n lanes (8 per client) reach n / (4 + n) of its rate, at 4 + n ms per
// op. In the open loop, ops wait for it as in M/M/1, and at most 900 ops/s are done.
StepFigures Served(const CapacityStep& step) {
  StepFigures figures{.ops = 100'000, .due_per_s = step.offered_per_s, .fairness = 1};
  const double lanes = step.clients * step.lanes_per_worker;
  if (!step.is_open()) {
    figures.ops_per_s = 1000 * lanes / (4 + lanes);
    figures.mean_us = 1e3 * (4 + lanes);
    return figures;
  }
  figures.ops_per_s = std::min(step.offered_per_s, 900.0);
  figures.done_share = figures.ops_per_s / step.offered_per_s;
  figures.mean_us = 4000 + 1e6 / (1000 - figures.ops_per_s);
  figures.slo_figure_us = figures.mean_us;
  figures.slo_service_figure_us = 4000;
  return figures;
}

CapacitySearch Searched(const CapacitySettings& settings) {
  CapacitySearch search(settings);
  for (int i = 0; i < 1000 && search.Next().has_value(); ++i) search.Note(Served(*search.Next()));
  REQUIRE_FALSE(search.Next().has_value());
  return search;
}

v1::Plan WorkloadOf(const std::string& operation, uint64_t record_bytes, const std::string& engine = "posix") {
  v1::Plan plan;
  v1::Operation& what = *plan.add_phases()->add_assignments()->mutable_operation();
  what.set_name(operation);
  what.set_engine(engine);
  what.set_record_bytes(record_bytes);
  return plan;
}

TEST_CASE("a workload of which nobody says how it moves goes past the clients' memory") {
  const auto operation = [](const v1::Plan& plan) { return plan.phases(0).assignments(0).operation(); };
  GivenOptions nothing;
  v1::Plan direct = WorkloadOf("random-mix", 8192);
  MeasureStorage(nothing, /*direct_works=*/true, direct);
  CHECK((operation(direct).direct() && !operation(direct).sync() && direct.phases(0).before().empty()));
  for (v1::Plan plan : {WorkloadOf("random-mix", 8192), WorkloadOf("random-mix", 1000)}) {
    MeasureStorage(nothing, /*direct_works=*/operation(plan).record_bytes() == 1000, plan);
    CHECK((!operation(plan).direct() && operation(plan).sync()));
    CHECK(plan.phases(0).before(0).drop_caches().verify());
  }
  v1::Plan simulated = WorkloadOf("random-mix", 8192, "sim");
  MeasureStorage(nothing, /*direct_works=*/true, simulated);
  CHECK(!operation(simulated).direct());
  for (const auto& [name, value] : {std::pair{OptionName("cold"), ""}, std::pair{OptionName("direct"), "0"},
                                    std::pair{OptionName("sync"), ""}, std::pair{OptionName("mix"), "70r:30w@8k"}}) {
    GivenOptions given;
    REQUIRE(given.Add(name, value).ok());
    v1::Plan plan = WorkloadOf("random-mix", 8192);
    MeasureStorage(given, /*direct_works=*/true, plan);
    INFO(std::string(name.text()));
    CHECK((!operation(plan).direct() && !operation(plan).sync() && plan.phases(0).before().empty()));
  }
}

TEST_CASE("levels double, and small ranges have those between too") {
  CHECK(LevelsUpTo(1) == Levels{1});
  CHECK(LevelsUpTo(2) == Levels{1, 2});
  CHECK(LevelsUpTo(4) == Levels{1, 2, 3, 4});
  CHECK(LevelsUpTo(6) == Levels{1, 2, 3, 4, 5, 6});
  CHECK(LevelsUpTo(16) == Levels{1, 2, 4, 8, 12, 16});
  CHECK(LevelsUpTo(32) == Levels{1, 2, 4, 8, 16, 32});
  CHECK(LevelsUpTo(100) == Levels{1, 2, 4, 8, 16, 32, 64, 100});
}

TEST_CASE("a plan that sets the load or the time of ops is refused") {
  v1::Plan plain;
  plain.add_phases()->add_assignments()->mutable_operation()->mutable_arrivals()->set_ops_per_s(100);
  CHECK(CheckLeavesLoad(plain).ok());
  const auto refusal_of = [&plain](void (*change)(v1::Plan&, v1::Phase&, v1::Operation&)) {
    v1::Plan plan = plain;
    v1::Phase& phase = *plan.mutable_phases(0);
    change(plan, phase, *phase.mutable_assignments(0)->mutable_operation());
    return std::string(CheckLeavesLoad(plan).message());
  };
  using Catch::Contains;
  const auto ramp = [](v1::Plan&, v1::Phase&, v1::Operation& of) {
    of.mutable_arrivals()->set_end_ops_per_s(200);
  };
  CHECK_THAT(refusal_of(ramp), Contains("end_ops_per_s"));
  const auto lanes = [](v1::Plan&, v1::Phase&, v1::Operation& of) {
    of.mutable_arrivals()->set_per_lane(true);
  };
  CHECK_THAT(refusal_of(lanes), Contains("per_lane"));
  const auto think = [](v1::Plan&, v1::Phase&, v1::Operation& of) { of.mutable_between()->set_think_ms(1); };
  CHECK_THAT(refusal_of(think), Contains("-J"));
  const auto pace = [](v1::Plan&, v1::Phase&, v1::Operation& of) { of.mutable_between()->set_ops_per_s(1); };
  CHECK_THAT(refusal_of(pace), Contains("-+O"));
  const auto burst = [](v1::Plan&, v1::Phase&, v1::Operation& of) {
    of.mutable_between()->set_burst_bytes(1);
  };
  CHECK_THAT(refusal_of(burst), Contains("-+b"));
  const auto replay = [](v1::Plan&, v1::Phase&, v1::Operation& of) {
    of.mutable_trace()->set_read_file("/x");
  };
  CHECK_THAT(refusal_of(replay), Contains("-Y"));
  const auto few = [](v1::Plan&, v1::Phase& phase, v1::Operation&) { phase.mutable_stop()->set_max_ops(9); };
  CHECK_THAT(refusal_of(few), Contains("--max-ops"));
  const auto soak = [](v1::Plan& plan, v1::Phase&, v1::Operation&) { plan.set_soak_s(60); };
  CHECK_THAT(refusal_of(soak), Contains("--soak"));
  const auto alone = [](v1::Plan& plan, v1::Phase&, v1::Operation&) { plan.set_per_client(true); };
  CHECK_THAT(refusal_of(alone), Contains("--per-client"));
}

TEST_CASE("a plan of closed loops that chooses its workers is refused") {
  using Catch::Contains;
  v1::Plan one;
  one.add_phases()->add_assignments()->mutable_who();
  CHECK(CheckLeavesLoad(one).ok());
  v1::Plan two = one;
  two.mutable_phases(0)->add_assignments();
  CHECK_THAT(std::string(CheckLeavesLoad(two).message()), Contains("closed loops of one operation"));
  v1::Plan chosen = one;
  chosen.mutable_phases(0)->mutable_assignments(0)->mutable_who()->add_workers(1);
  CHECK_THAT(std::string(CheckLeavesLoad(chosen).message()), Contains("chooses the workers itself"));

  // With rates, all steps are open loops, which leave the workers as they are.
  for (v1::Assignment& each : *two.mutable_phases(0)->mutable_assignments()) {
    each.mutable_operation()->mutable_arrivals()->set_ops_per_s(100);
    each.mutable_who()->add_workers(1);
  }
  CHECK(CheckLeavesLoad(two).ok());
}

TEST_CASE("each repetition has every level once, in an order of its own") {
  CapacitySettings settings = Settings();
  settings.repetitions = 3;
  const std::vector<CapacityStep> steps = ClosedSteps(settings);
  // Clients 1 to 4 with 8 lanes; all clients with 1 to 6 lanes: 1, 2, 3, 4, 6 of LevelsUpTo(8).
  CHECK(LevelsUpTo(8) == Levels{1, 2, 3, 4, 6, 8});
  REQUIRE(steps.size() == 3 * 9);
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> rounds(3);
  for (const CapacityStep& step : steps)
    rounds.at(step.round).emplace_back(step.clients, step.lanes_per_worker);
  CHECK((rounds[0] != rounds[1] || rounds[1] != rounds[2]));
  for (auto& round : rounds) {
    CHECK(round.size() == 9);
    CHECK(std::set(round.begin(), round.end()).size() == 9);
  }
}

TEST_CASE("closed loops, then the load curve up to their highest rate, then the SLO") {
  const CapacitySearch search = Searched(Settings());
  CHECK(search.ended_early().empty());
  REQUIRE(search.highest().has_value());
  CHECK(search.highest()->ops_per_s == Approx(1000 * 32 / 36.0));  // 4 clients with 8 lanes
  std::map<Kind, size_t> count;
  for (const MeasuredStep& measured : search.steps()) ++count[measured.step.kind];
  CHECK(count[Kind::kClients] == 2 * 4);
  CHECK(count[Kind::kLanes] == 2 * 5);
  CHECK(count[Kind::kCurve] == 2 * 5);
  for (const MeasuredStep& measured : search.steps()) {
    if (measured.step.kind != Kind::kCurve) continue;
    CHECK(measured.step.offered_per_s == Approx(measured.step.share_of_max * 1000 * 32 / 36));
  }
  // 4 + 1000 / (1000 - x) = 8 ms: x = 750.
  REQUIRE(search.slo_search().has_value());
  CHECK(search.slo_search()->outcome().kind == SloOutcome::Kind::kFound);
  CHECK(search.slo_search()->outcome().max_per_s == Approx(750).epsilon(0.05));
  CHECK(search.slo_search()->outcome().max_per_s <= 750);
}

TEST_CASE("the level of all clients and all lanes belongs to both sweeps") {
  const CapacitySearch search = Searched(Settings());
  const std::vector<LevelFigures> clients = LevelsOf(search.steps(), Kind::kClients, search.settings());
  const std::vector<LevelFigures> lanes = LevelsOf(search.steps(), Kind::kLanes, search.settings());
  REQUIRE(clients.size() == 4);
  REQUIRE(lanes.size() == 6);
  CHECK(clients.back().repetitions == lanes.back().repetitions);
  CHECK(clients.back().repetitions.size() == 2);
}

TEST_CASE("a mix has no closed loops: its highest load is the highest sustained one") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 50;
  const CapacitySearch search = Searched(settings);
  for (const MeasuredStep& measured : search.steps()) CHECK(measured.step.is_open());
  REQUIRE(search.highest().has_value());
  CHECK(search.highest()->ops_per_s <= 910);  // 99 % of it are 900
  CHECK(search.highest()->ops_per_s >= 900 / 1.05);
  CHECK(search.slo_search()->outcome().max_per_s == Approx(750).epsilon(0.05));
}

TEST_CASE("of a mix that asks for more than the storage sustains, the sustained part is found") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 3000;
  const CapacitySearch search = Searched(settings);
  CHECK(search.ended_early().empty());
  REQUIRE(search.highest().has_value());
  CHECK(search.highest()->ops_per_s <= 910);
  CHECK(search.highest()->ops_per_s >= 900 / 1.05);
}

TEST_CASE("what limits a mix shows in the newest step that was not sustained") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 50;
  settings.slo.reset();
  CapacitySearch search(settings);
  // 872 ops/s are sustained twice; when they are confirmed, only 850 are.
  for (int i = 0; i < 1000 && search.Next().has_value(); ++i) {
    const CapacityStep step = *search.Next();
    StepFigures figures = Served(step);
    if (step.purpose == SloProbe::Purpose::kConfirm) {
      figures.ops_per_s = std::min(step.offered_per_s, 850.0);
      figures.done_share = figures.ops_per_s / step.offered_per_s;
    }
    figures.limits.emplace_back().set_name(figures.done_share < kMinDoneShare ? "server-disk" : "lanes");
    search.Note(figures);
  }
  REQUIRE(search.highest().has_value());
  CHECK(search.highest()->ops_per_s == Approx(872.4 / 1.05).epsilon(0.001));
  REQUIRE(search.highest()->limits.size() == 1);
  CHECK(search.highest()->limits[0].name() == "server-disk");
}

TEST_CASE("a mix of which not even a small part is sustained ends the search") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 1e6;
  const CapacitySearch search = Searched(settings);
  CHECK_FALSE(search.highest().has_value());
  CHECK(search.ended_early().find("not even 1/64 of the mix's load") == 0);
  CHECK(search.ended_early().ends_with(
      "only 5.8 % of the ops due were done. Use more lanes (-t) or more clients. If the storage is the limit, begin "
      "with less (--mix-factor, --rate)."));
}

TEST_CASE("a small part of a mix that is not measured needs no smaller load") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 64;
  const bool ops_fail = GENERATE(false, true);
  CapacitySearch search(settings);
  while (search.Next().has_value()) {
    StepFigures figures{.done_share = 0.5};
    if (search.Next()->offered_per_s < 64) {
      figures.done_share = ops_fail ? 0.5 : kNotMeasured;
      if (ops_fail) figures.errors = 3;
    }
    search.Note(figures);
  }
  CHECK(search.steps().back().step.offered_per_s == 1);
  CHECK(search.ended_early().starts_with(
      "it is unknown which load of the mix is sustained. Nothing could be measured at the lowest load, 1 ops/s: "));
  CHECK(search.ended_early().find("begin with less") == std::string::npos);
  CHECK(search.ended_early().ends_with(
      ops_fail ? "3 ops failed. The run's report lists the failed ops."
               : "no op was due in this time: measure longer (--time) or offer a higher load."));
}

TEST_CASE("a mix of which a small part is sustained only at first is not said to be too much at any load") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 64;
  CapacitySearch search(settings);
  bool passed = false;
  while (search.Next().has_value()) {
    StepFigures figures{.mean_us = 1000, .ops = 1000, .done_share = 0.5};
    if (search.Next()->offered_per_s == 1 && !passed) {
      figures.done_share = 1;
      passed = true;
    }
    search.Note(figures);
  }
  CHECK(search.ended_early().find(
            "it is unknown which load of the mix is sustained. The lowest load, 1 ops/s, passed "
            "at first, but not when it was tested again: only 50.0 % of the ops due were done.") == 0);
}

TEST_CASE("a mix of which no op was due needs a longer time, not less load") {
  CapacitySettings settings = Settings();
  settings.mix_per_s = 0.01;
  CapacitySearch search(settings);
  while (search.Next().has_value()) search.Note({.done_share = kNotMeasured});
  CHECK(search.steps().size() == 2);  // an invalid one is repeated once
  CHECK(search.ended_early().find("no op was due in this time") != std::string::npos);
}

TEST_CASE("a lost worker ends the search") {
  CapacitySearch search(Settings());
  StepFigures figures = Served(*search.Next());
  search.Note(figures);
  figures.worker_lost = true;
  figures.whole = false;
  search.Note(figures);
  CHECK_FALSE(search.Next().has_value());
  CHECK(search.ended_early().find("a worker was lost") == 0);
  CHECK(search.steps().size() == 2);
  const auto levels = LevelsOf(search.steps(), search.steps()[0].step.kind, search.settings());
  REQUIRE(levels.size() == 1);  // not the one in which a worker was lost
  CHECK(levels[0].repetitions.size() == 1);
  CHECK_FALSE(levels[0].repetitions[0]->worker_lost);
}

TEST_CASE("if nothing is done, the search ends and says so") {
  CapacitySearch search(Settings());
  while (search.Next().has_value()) search.Note({});
  CHECK_FALSE(search.highest().has_value());
  CHECK(search.ended_early().find("nothing could be measured") == 0);
}

TEST_CASE("ops that take longer than the SLO fail it, though not all of those that were due were done") {
  CapacitySettings settings = Settings();
  settings.slo = ParseSlo("mean<=3ms").value();
  CapacitySearch search(settings);
  while (search.Next().has_value()) search.Note(Served(*search.Next()));
  CHECK(search.slo_search()->outcome().kind == SloOutcome::Kind::kCannotBeMet);
}

TEST_CASE("a longer time is advised only if the search then begins at a lower load") {
  // 100 ops and 3 standard deviations in 8 x 5 s need 3.25 ops/s, which is under 1 % of 889 ops/s; in 8 x 1 s, 16.3.
  const bool longer_begins_lower = GENERATE(false, true);
  CapacitySettings settings = Settings();
  settings.slo = ParseSlo("mean<=3ms").value();
  settings.measure_s = longer_begins_lower ? 1 : 5;
  const CapacitySearch search = Searched(settings);
  REQUIRE(search.slo_search().has_value());
  CHECK(search.slo_search()->probes()[0].probe.offered_per_s ==
        Approx(longer_begins_lower ? 130.0 / 8 : 0.01 * 1000 * 32 / 36));
  CHECK(search.slo_search()->outcome().text.ends_with("with which the search can begin lower.") ==
        longer_begins_lower);
}

TEST_CASE("--max-duration takes repetitions first, then points, then time") {
  CapacitySettings settings = Settings();
  settings.repetitions = 5;
  const double all_s = EstimatedSeconds(settings);
  std::vector<std::string> notes;
  REQUIRE(FitInto(all_s, settings, notes).ok());
  CHECK(notes.empty());
  REQUIRE(FitInto(0.7 * all_s, settings, notes).ok());
  CHECK(EstimatedSeconds(settings) <= 0.7 * all_s);
  CHECK(settings.repetitions < 5);
  CHECK(settings.measure_s == 5);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("repetitions instead of 5") != std::string::npos);
  const absl::Status refused = FitInto(3, settings, notes);
  CHECK(refused.code() == absl::StatusCode::kInvalidArgument);
  CHECK(refused.message().find("--max-duration 3 s is too short") == 0);
}

TEST_CASE("--max-duration leaves each phase a period of its bursts") {
  CapacitySettings settings = Settings();
  settings.measure_s = 20;
  settings.repetitions = 1;
  settings.least_phase_s = 10;
  CapacitySettings least = settings;
  least.measure_s = 9;  // and 1 s of warm-up
  std::vector<std::string> notes;
  const double all_s = EstimatedSeconds(least);
  REQUIRE(FitInto(all_s + 1, settings, notes).ok());
  CHECK(settings.measure_s == 9);
  CHECK_FALSE(FitInto(all_s - 1, settings, notes).ok());
}

v1::Phase Workload() {
  v1::Phase phase;
  phase.add_assignments()->mutable_operation()->set_name("random-read");
  phase.mutable_stop()->set_time_s(5);
  return phase;
}

TEST_CASE("a step becomes a phase with its workers, lanes, load and time") {
  const std::vector<std::vector<uint32_t>> workers = {{0, 1}, {2, 3}, {4, 5}};
  v1::Phase phase =
      PhaseOf({.kind = Kind::kClients, .round = 2, .clients = 2, .lanes_per_worker = 8, .seconds = 7},
              Workload(), workers, 12);
  CHECK(phase.name() == "12: 2 clients, round 3");
  CHECK(phase.stop().time_s() == 7);
  CHECK(phase.lanes_per_worker() == 8);
  const auto& who = phase.assignments(0).who().workers();
  CHECK(std::vector<uint32_t>(who.begin(), who.end()) ==
        std::vector<uint32_t>{4, 5, 0, 1});  // from the third client
  CHECK_FALSE(phase.assignments(0).operation().has_arrivals());
  v1::Phase chosen = Workload();
  chosen.mutable_assignments(0)->mutable_who()->add_workers(3);
  chosen = PhaseOf({.kind = Kind::kClients, .clients = 1, .lanes_per_worker = 8, .seconds = 7}, chosen,
                   workers, 12);
  CHECK(chosen.assignments(0).who().workers_size() == 2);  // only those of the first client
  phase = PhaseOf({.kind = Kind::kCurve,
                   .clients = 3,
                   .lanes_per_worker = 8,
                   .share_of_max = 0.4,
                   .offered_per_s = 400,
                   .seconds = 5},
                  Workload(), workers, 13);
  CHECK(phase.name() == "13: open loop, 40 %, round 1");
  CHECK(phase.assignments(0).who().workers().empty());
  CHECK(phase.assignments(0).operation().arrivals().ops_per_s() == 400);
}

TEST_CASE("the parts of a mix keep their shares of the load") {
  v1::Phase mix = Workload();
  mix.mutable_assignments(0)->mutable_operation()->mutable_arrivals()->set_ops_per_s(30);
  v1::Operation& other = *mix.add_assignments()->mutable_operation();
  other.mutable_arrivals()->set_ops_per_s(10);
  CHECK(DuePerSecond(mix) == 40);
  const v1::Phase phase =
      PhaseOf({.kind = Kind::kCurve, .clients = 1, .lanes_per_worker = 8, .offered_per_s = 400, .seconds = 5},
              mix, {{0, 1}}, 1);
  CHECK(phase.assignments(0).operation().arrivals().ops_per_s() == Approx(300));
  CHECK(phase.assignments(1).operation().arrivals().ops_per_s() == Approx(100));
}

}  // namespace
}  // namespace iobench

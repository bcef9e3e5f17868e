#include "coordinator/analysis/explain/lane_sweep.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

// Phases of a plan with one operation, of 1, 2, 4 … lanes.
struct Sweep {
  v1::RunReport run;

  explicit Sweep(int phases) {
    for (int i = 0; i < phases; ++i) {
      run.mutable_run()->mutable_plan()->add_phases()->add_assignments()->mutable_operation()->set_name(
          "write");
    }
  }
  v1::PhaseReport Phase(uint32_t index, uint32_t lanes, double bytes_per_s) const {
    v1::PhaseReport phase;
    phase.set_index(index);
    phase.set_lane_count(lanes);
    phase.set_duration_s(10);
    phase.mutable_headline()->set_bytes_per_s(bytes_per_s);
    return phase;
  }
};

void AddLimit(v1::PhaseReport& phase, const std::string& name, double strength) {
  v1::Limit& limit = *phase.add_limits();
  limit.set_name(name);
  limit.set_evidence("evidence of " + name);
  limit.set_strength(strength);
}

std::vector<std::string> Names(const v1::PhaseReport& phase) {
  std::vector<std::string> names;
  for (const v1::Limit& limit : phase.limits()) names.push_back(limit.name());
  return names;
}

TEST_CASE("where 16 lanes do as much as 2, more lanes are not the advice") {
  Sweep sweep(2);
  *sweep.run.add_phases() = sweep.Phase(0, 2, 115e3);
  v1::PhaseReport phase = sweep.Phase(1, 16, 115e3);
  AddLimit(phase, "lanes", 0.6);
  phase.set_limited_by("evidence of lanes");
  ApplyLaneSweep(sweep.run, phase);
  CHECK(Names(phase).empty());
  CHECK(phase.limited_by().empty());
}

TEST_CASE("where 8 lanes do twice as much as 4, lanes are the limit") {
  Sweep sweep(3);
  *sweep.run.add_phases() = sweep.Phase(0, 2, 90e3);
  *sweep.run.add_phases() = sweep.Phase(1, 4, 100e3);
  v1::PhaseReport phase = sweep.Phase(2, 8, 195e3);  // 95 % of what 4 more could add
  ApplyLaneSweep(sweep.run, phase);
  REQUIRE(Names(phase) == std::vector<std::string>{"lanes"});
  CHECK(phase.limited_by() == "too few lanes: 8 did 1.95 times as much as 4");
  CHECK_FALSE(phase.limits(0).advice().empty());
}

TEST_CASE("between helping and not, a sweep says nothing") {
  Sweep sweep(2);
  *sweep.run.add_phases() = sweep.Phase(0, 4, 100e3);
  v1::PhaseReport phase = sweep.Phase(1, 8, 170e3);
  ApplyLaneSweep(sweep.run, phase);
  CHECK(Names(phase).empty());
  AddLimit(phase, "lanes", 0.6);
  ApplyLaneSweep(sweep.run, phase);
  CHECK(Names(phase) == std::vector<std::string>{"lanes"});
}

TEST_CASE("a full resource and a pace stay what they are in a sweep") {
  Sweep sweep(2);
  *sweep.run.add_phases() = sweep.Phase(0, 4, 100e3);
  for (const char* name : {"server-disk", "pace"}) {
    v1::PhaseReport phase = sweep.Phase(1, 8, 200e3);
    AddLimit(phase, name, 0.95);
    ApplyLaneSweep(sweep.run, phase);
    CHECK(Names(phase) == std::vector<std::string>{name});
  }
  v1::PhaseReport phase = sweep.Phase(1, 8, 200e3);
  AddLimit(phase, "server-delay", 0.605);
  AddLimit(phase, "dirty-limit", 0.5);
  ApplyLaneSweep(sweep.run, phase);
  CHECK(Names(phase) == std::vector<std::string>{"server-delay", "lanes"});
}

TEST_CASE("a sweep needs whole phases of a second that do the same, past the clients' memory") {
  const auto flat = [](auto&& change) {
    Sweep sweep(2);
    v1::PhaseReport& fewer = *sweep.run.add_phases();
    fewer = sweep.Phase(0, 2, 115e3);
    v1::PhaseReport phase = sweep.Phase(1, 16, 115e3);
    AddLimit(phase, "lanes", 0.6);
    change(sweep, fewer, phase);
    ApplyLaneSweep(sweep.run, phase);
    return Names(phase).empty();
  };
  using Report = v1::PhaseReport;
  CHECK(flat([](Sweep&, Report&, Report&) {}));
  CHECK_FALSE(flat([](Sweep&, Report& fewer, Report&) { fewer.set_not_whole("1 lane failed"); }));
  CHECK_FALSE(flat([](Sweep&, Report&, Report& phase) { phase.set_duration_s(0.9); }));
  CHECK_FALSE(flat([](Sweep&, Report& fewer, Report&) { fewer.set_lane_count(16); }));
  CHECK_FALSE(flat([](Sweep&, Report& fewer, Report&) { fewer.add_marks()->set_code("cached"); }));
  CHECK_FALSE(flat([](Sweep&, Report& fewer, Report&) { fewer.set_target("/other"); }));
  CHECK_FALSE(flat([](Sweep& sweep, Report&, Report&) {
    sweep.run.mutable_run()
        ->mutable_plan()
        ->mutable_phases(0)
        ->mutable_assignments(0)
        ->mutable_operation()
        ->set_direct(true);
  }));
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/across/until_steady.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace iobench {
namespace {

// Two phases, in rounds of these figures each.
v1::RunReport Rounds(const std::vector<double>& writes, const std::vector<double>& creates) {
  v1::RunReport report;
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  v1::Steady& asked = *plan.mutable_until_steady();
  asked.set_window_rounds(5);
  asked.set_range_percent(20);
  asked.set_slope_percent(10);
  asked.set_max_rounds(25);
  for (const char* name : {"write", "create"}) {
    v1::Phase& phase = *plan.add_phases();
    phase.set_name(name);
    phase.add_assignments()->mutable_operation()->set_name(name);
  }
  for (size_t round = 0; round < writes.size(); ++round) {
    for (uint32_t place : {0u, 1u}) {
      if (place == 1 && round >= creates.size()) continue;
      v1::PhaseReport& phase = *report.add_phases();
      phase.set_index(static_cast<uint32_t>(2 * round) + place);
      phase.set_repetition(static_cast<uint32_t>(round));
      phase.set_headline_in_ops(place == 1);
      phase.mutable_headline()->set_bytes_per_s(place == 0 ? writes[round] : 1);
      phase.mutable_headline()->set_ops_per_s(place == 1 ? creates[round] : 1);
    }
  }
  UpdateSteady(report);
  return report;
}

TEST_CASE("the run is steady when all phases are, over the same last rounds; the figures are their means") {
  const v1::SteadyReport steady = Rounds({900, 500, 90, 110, 100, 110, 90}, {50, 50, 50, 50, 50, 50, 50}).steady();
  CHECK(steady.steady());
  CHECK(steady.rounds() == 7);
  REQUIRE(steady.rows_size() == 2);
  const v1::SteadyRow& write = steady.rows(0);
  CHECK(write.name() == "write");
  CHECK_FALSE(write.in_ops());
  CHECK(write.first_round() == 3);
  CHECK(write.mean() == Approx(100));
  CHECK(write.range_percent() == Approx(20));
  CHECK(write.slope_percent() == Approx(0).margin(1e-9));
  CHECK(write.rounds_size() == 7);
  CHECK(write.rounds(1) == 500);
  CHECK(steady.rows(1).in_ops());
  CHECK(steady.rows(1).mean() == 50);
}

TEST_CASE("one phase that is not steady is enough, and the row says which") {
  const v1::SteadyReport steady = Rounds({100, 100, 100, 100, 100}, {94, 97, 100, 103, 106}).steady();
  CHECK_FALSE(steady.steady());
  CHECK(steady.rows(0).steady());
  CHECK_FALSE(steady.rows(1).steady());
  CHECK(steady.rows(1).slope_percent() == Approx(12));
  CHECK(Rounds({100, 100, 100, 100, 100}, {106, 103, 100, 97, 94}).steady().rows(1).slope_percent() == Approx(-12));
}

TEST_CASE("rounds that are not complete, or too few, are not steady") {
  const v1::SteadyReport four = Rounds({100, 100, 100, 100, 100}, {50, 50, 50, 50}).steady();
  CHECK(four.rounds() == 4);  // the fifth lacks a phase
  CHECK_FALSE(four.steady());
  CHECK(std::isnan(four.rows(0).mean()));
  CHECK(four.rows(0).first_round() == 1);
  CHECK(four.rows(0).rounds_size() == 4);
  v1::RunReport report = Rounds(std::vector<double>(5, 100.0), std::vector<double>(5, 50.0));
  CHECK(report.steady().steady());
  report.mutable_phases(9)->set_interrupted(true);  // the last phase
  UpdateSteady(report);
  CHECK(report.steady().rounds() == 4);
}

TEST_CASE("a phase that is not whole has no figure, until it has left the window") {
  v1::RunReport report = Rounds(std::vector<double>(6, 100.0), std::vector<double>(6, 50.0));
  report.mutable_phases(2)->set_not_whole("1 worker lost");  // the write of the second round
  UpdateSteady(report);
  CHECK_FALSE(report.steady().steady());
  CHECK(std::isnan(report.steady().rows(0).rounds(1)));
  report.mutable_phases(2)->clear_not_whole();
  report.mutable_phases(0)->set_not_whole("1 worker lost");
  UpdateSteady(report);
  CHECK(report.steady().steady());
}

TEST_CASE("only rounds of the window count where figures are compared or judged") {
  const v1::RunReport report = Rounds(std::vector<double>(7, 100.0), std::vector<double>(7, 50.0));
  CHECK_FALSE(IsInSteadyWindow(report, 1));
  CHECK(IsInSteadyWindow(report, 2));  // round 3 of 7
  CHECK(IsInSteadyWindow(report, 6));
  CHECK_FALSE(IsInSteadyWindow(report, 7));  // began, and did not end
  CHECK(IsInSteadyWindow(v1::RunReport(), 3));
}

TEST_CASE("a plan that asks for no steady state has no such report") {
  v1::RunReport report = Rounds({100, 100}, {100, 100});
  report.mutable_run()->mutable_plan()->clear_until_steady();
  UpdateSteady(report);
  CHECK_FALSE(report.has_steady());
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/across/each_path.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace iobench {
namespace {

// Two targets, /a and /b; phases are planned and then measured in the plan's order.
class Run {
 public:
  Run() {
    for (const char* const path : {"/a", "/b"}) plan().add_targets()->set_path(path);
  }
  Run& Phase(const std::string& operation, uint32_t target) {
    v1::Phase& planned = *plan().add_phases();
    planned.set_name(operation + (target == 1 ? " on /a" : " on /b"));
    planned.set_only_target(target);
    planned.add_assignments()->mutable_operation()->set_name(operation);
    return *this;
  }
  Run& Measured(double rate, bool in_ops = false) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_index(static_cast<uint32_t>(report.phases_size() - 1));
    phase.set_headline_in_ops(in_ops);
    phase.mutable_headline()->set_bytes_per_s(in_ops ? 7 : rate);
    phase.mutable_headline()->set_ops_per_s(in_ops ? rate : 7);
    return *this;
  }
  v1::PhaseReport& last() { return *report.mutable_phases(report.phases_size() - 1); }
  v1::Plan& plan() { return *report.mutable_run()->mutable_plan(); }

  const v1::EachPathReport& Compared() {
    UpdateEachPath(report);
    return report.each_path();
  }

  v1::RunReport report;
};

std::vector<double> RatesOf(const v1::EachPathRow& row) {
  std::vector<double> rates;
  for (const v1::EachPathCell& cell : row.cells()) rates.push_back(cell.rate());
  return rates;
}

TEST_CASE("phases that differ only in their target share a row") {
  Run run;
  run.Phase("write", 1).Phase("create", 1).Phase("write", 2).Phase("create", 2);
  run.plan().mutable_phases(2)->add_before()->mutable_rest()->set_seconds(1);
  run.Measured(200).Measured(50, true).Measured(150).Measured(100, true);
  const v1::EachPathReport table = run.Compared();
  CHECK(std::vector<std::string>(table.paths().begin(), table.paths().end()) == std::vector<std::string>{"/a", "/b"});
  REQUIRE(table.rows_size() == 2);
  CHECK(table.rows(0).phase() == "write");
  CHECK(RatesOf(table.rows(0)) == std::vector<double>{200, 150});
  CHECK(table.rows(0).cells(1).of_first() == Approx(0.75));
  CHECK(table.rows(1).phase() == "create");
  CHECK(table.rows(1).in_ops());
  CHECK(RatesOf(table.rows(1)) == std::vector<double>{50, 100});
  CHECK(table.rows(1).cells(1).of_first() == Approx(2.0));
}

TEST_CASE("equal phases on one target keep their order, and each has a row") {
  Run run;
  run.Phase("read", 1).Phase("read", 1).Phase("read", 2).Phase("read", 2);
  run.Measured(10).Measured(20).Measured(30).Measured(40);
  const v1::EachPathReport table = run.Compared();
  REQUIRE(table.rows_size() == 2);
  CHECK(RatesOf(table.rows(0)) == std::vector<double>{10, 30});
  CHECK(RatesOf(table.rows(1)) == std::vector<double>{20, 40});
}

TEST_CASE("of a target's repetitions the median of the whole ones counts") {
  Run run;
  run.Phase("write", 1).Phase("write", 2);
  run.Measured(100).Measured(10).Measured(200).Measured(20).Measured(600).Measured(99);
  run.last().set_not_whole("1 worker lost");
  run.Measured(900).Measured(5);
  run.last().set_not_whole("interrupted");
  const v1::EachPathReport table = run.Compared();
  REQUIRE(table.rows_size() == 1);
  CHECK(RatesOf(table.rows(0)) == std::vector<double>{400, 15});
}

TEST_CASE("repetitions show whether a path is better, worse or neither") {
  Run run;
  run.Phase("write", 1).Phase("write", 2).Phase("read", 1).Phase("read", 2).Phase("reread", 1).Phase("reread", 2);
  for (const double noise : {0.99, 1.0, 1.01}) {
    run.Measured(100 * noise).Measured(150 / noise).Measured(100 * noise).Measured(50 / noise);
    run.Measured(100 * noise).Measured(100 / noise);
  }
  const v1::EachPathReport table = run.Compared();
  REQUIRE(table.rows_size() == 3);
  CHECK(table.rows(0).cells(0).verdict().empty());
  const v1::EachPathCell& better = table.rows(0).cells(1);
  CHECK(better.verdict() == "better");
  CHECK(better.ratio() == Approx(1.5).epsilon(0.001));  // the geometric means are nearly 100 and 150
  CHECK(better.low() > 1.4);
  CHECK(better.high() < 1.6);
  CHECK(table.rows(1).cells(1).verdict() == "worse");
  CHECK(table.rows(1).cells(1).ratio() == Approx(0.5).epsilon(0.001));
  CHECK(table.rows(2).cells(1).verdict() == "not shown");
  CHECK(table.rows(2).cells(1).low() < 1);
  CHECK(table.rows(2).cells(1).high() > 1);
  CHECK(table.doubt().empty());
}

TEST_CASE("without repetitions there is no verdict, and a shared connection is passed on") {
  Run run;
  run.Phase("write", 1).Phase("write", 2).Measured(100).Measured(200);
  v1::Mark& mark = *run.last().add_marks();
  mark.set_code("shared_transport");
  mark.set_text("the mounts of the paths");
  const v1::EachPathReport table = run.Compared();
  CHECK_FALSE(table.rows(0).cells(1).has_ratio());
  CHECK(table.rows(0).cells(1).verdict().empty());
  CHECK(table.doubt() == "the mounts of the paths");
}

TEST_CASE("a target without a figure has no ratio") {
  Run run;
  run.Phase("write", 1).Phase("write", 2).Measured(100);
  const v1::EachPathReport table = run.Compared();
  REQUIRE(table.rows_size() == 1);
  CHECK(std::isnan(table.rows(0).cells(1).rate()));
  CHECK(std::isnan(table.rows(0).cells(1).of_first()));
}

TEST_CASE("without only_target, or with a target that does not exist, there is nothing to compare") {
  Run run;
  run.Phase("write", 1).Phase("write", 2).Measured(100).Measured(100);
  run.plan().mutable_phases(1)->set_only_target(3);
  run.Compared();
  CHECK_FALSE(run.report.has_each_path());
  for (v1::Phase& phase : *run.plan().mutable_phases()) phase.clear_only_target();
  run.Compared();
  CHECK_FALSE(run.report.has_each_path());
}

}  // namespace
}  // namespace iobench

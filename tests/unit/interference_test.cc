#include "coordinator/analysis/interference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "coordinator/analysis/report_builder.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::Phase PlannedBeside(const std::string& background) {
  v1::Phase phase;
  phase.set_name(background.empty() ? "read, undisturbed" : "read beside " + background);
  v1::Interference& interference = *phase.mutable_interference();
  interference.set_phase("read");
  interference.set_background(background);
  interference.set_victims(1);
  interference.set_others(background.empty() ? 0 : 1);
  v1::Assignment& victims = *phase.add_assignments();
  victims.mutable_operation()->set_name("read");
  victims.mutable_who()->add_workers(0);
  if (background.empty()) return phase;
  v1::Assignment& others = *phase.add_assignments();
  others.set_name(background);
  others.set_background(true);
  others.mutable_operation()->set_name("write");
  others.mutable_who()->add_workers(1);
  return phase;
}

v1::PhaseReport Part(uint32_t index, double victims_bytes_per_s, double p99_us) {
  v1::PhaseReport phase;
  phase.set_index(index);
  phase.mutable_headline()->set_bytes_per_s(victims_bytes_per_s + 500);
  v1::PartReport& victims = *phase.add_parts();
  victims.set_bytes(1);
  victims.set_bytes_per_s(victims_bytes_per_s);
  victims.mutable_latency_us()->set_count(100);
  victims.mutable_latency_us()->set_p50(p99_us / 2);
  victims.mutable_latency_us()->set_p99(p99_us);
  v1::PartReport& others = *phase.add_parts();
  others.set_background(true);
  others.set_operation(index % 3 == 2 ? "file-mix" : "write");
  others.set_bytes(1);
  others.set_ops_per_s(7);
  others.set_bytes_per_s(500);
  return phase;
}

v1::PhaseReport Undisturbed(uint32_t index, double bytes_per_s, double p99_us) {
  v1::PhaseReport phase;
  phase.set_index(index);
  phase.mutable_headline()->set_bytes_per_s(bytes_per_s);
  phase.mutable_latency_us()->set_count(100);
  phase.mutable_latency_us()->set_p50(p99_us / 2);
  phase.mutable_latency_us()->set_p99(p99_us);
  return phase;
}

v1::RunReport Begun() {
  v1::RunReport report;
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  *plan.add_phases() = PlannedBeside("");
  *plan.add_phases() = PlannedBeside("write@1m");
  *plan.add_phases() = PlannedBeside("create");
  BeginInterference(report);
  return report;
}

TEST_CASE("before anything is measured, each load has a row without figures") {
  const v1::RunReport report = Begun();
  REQUIRE(report.interference_size() == 1);
  const v1::InterferenceReport& read = report.interference(0);
  CHECK(read.phase() == "read");
  REQUIRE(read.rows_size() == 3);
  CHECK(read.rows(0).background().empty());
  CHECK(read.rows(1).background() == "write@1m");
  CHECK(read.rows(2).background() == "create");
  CHECK(std::isnan(read.rows(1).of_undisturbed()));
  CHECK(std::isnan(read.rows(1).p99_factor()));
}

TEST_CASE("victims are compared with themselves undisturbed, without the bytes of the load") {
  v1::RunReport report = Begun();
  UpdateInterference(Undisturbed(0, 1000, 200), report);
  UpdateInterference(Part(1, 250, 1000), report);
  const v1::InterferenceRow& beside = report.interference(0).rows(1);
  CHECK(beside.rate() == 250);
  CHECK(beside.of_undisturbed() == 0.25);
  CHECK(beside.p50_us() == 500);
  CHECK(beside.p99_factor() == 5);
  CHECK(beside.background_rate() == 500);
  CHECK_FALSE(beside.background_in_ops());
  CHECK(std::isnan(report.interference(0).rows(2).rate()));
}

TEST_CASE("the figures of repetitions are means") {
  v1::RunReport report = Begun();
  UpdateInterference(Undisturbed(0, 1000, 200), report);
  UpdateInterference(Part(1, 200, 1000), report);
  UpdateInterference(Undisturbed(3, 2000, 400), report);  // the plan has three phases
  UpdateInterference(Part(4, 400, 1000), report);
  const v1::InterferenceReport& read = report.interference(0);
  CHECK(read.rows(0).rate() == 1500);
  CHECK(read.rows(1).rate() == 300);
  CHECK(read.rows(1).of_undisturbed() == Approx(0.2));
  CHECK(read.rows(1).count() == 2);
}

TEST_CASE("a load of metadata operations is in ops, also if its files have data") {
  v1::RunReport report = Begun();
  UpdateInterference(Part(2, 250, 1000), report);
  const v1::InterferenceRow& beside = report.interference(0).rows(2);
  CHECK(beside.background_in_ops());
  CHECK(beside.background_rate() == 7);
}

TEST_CASE("victims of metadata operations are in ops, whatever the load is in") {
  v1::RunReport report = Begun();
  v1::PhaseReport stats = Undisturbed(0, 0, 200);
  stats.set_headline_in_ops(true);
  stats.mutable_headline()->set_ops_per_s(1000);
  UpdateInterference(stats, report);
  v1::PhaseReport beside = Part(1, 0, 1000);
  beside.mutable_parts(0)->set_ops_per_s(250);
  UpdateInterference(beside, report);
  CHECK(report.interference(0).in_ops());
  CHECK(report.interference(0).rows(1).of_undisturbed() == 0.25);
}

TEST_CASE("a phase that lost a worker says nothing of victims") {
  v1::RunReport report = Begun();
  v1::PhaseReport lost = Part(1, 10, 1e6);
  lost.set_not_whole("1 lane sat out");
  UpdateInterference(lost, report);
  CHECK(std::isnan(report.interference(0).rows(1).rate()));
  CHECK(report.interference(0).rows(1).count() == 0);
}

TEST_CASE("in an open loop, victims are judged by response times") {
  v1::RunReport report = Begun();
  v1::PhaseReport phase = Part(1, 100, 1000);
  phase.mutable_parts(0)->mutable_latency_us()->set_p99(9000);
  phase.mutable_parts(0)->mutable_open_loop()->mutable_service_us()->set_p99(100);
  UpdateInterference(phase, report);
  CHECK(report.interference(0).rows(1).p99_us() == 9000);
}

}  // namespace
}  // namespace iobench

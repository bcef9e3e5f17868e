#include "coordinator/analysis/per_client.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/analysis/phase/spread.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/analysis/statistics/median.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::PerClientReport ClientsWith(const std::vector<double>& alone, const std::vector<double>& together) {
  v1::PerClientReport report;
  double sum = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    v1::PerClientRow& row = *report.add_clients();
    row.set_client("c" + std::to_string(i));
    row.set_alone(alone[i]);
    row.set_together(together[i]);
    sum += together[i];
  }
  report.set_together(sum);
  JudgeClients(report);
  return report;
}

TEST_CASE("a client is compared with the median of the others, not with its own rate among them") {
  const v1::PerClientReport report = ClientsWith({100, 20, 120}, {50, 10, 60});
  CHECK(report.median_alone() == 100);
  CHECK(report.sum_alone() == 240);
  CHECK(report.clients(0).of_others() == Approx(100.0 / 70));  // of 20 and 120
  CHECK(report.clients(1).of_others() == Approx(20.0 / 110));
  CHECK_FALSE(report.clients(0).outlier());
  CHECK(report.clients(1).outlier());
  CHECK_FALSE(report.clients(2).outlier());
  CHECK(report.together() == 120);
  CHECK(report.scaling() == 0.5);
  CHECK(report.fairness() == 0.25);  // 10 of a mean of 40
}

TEST_CASE(
    "the median of the others is right for odd and even numbers, equal rates, and one that is unknown") {
  for (std::vector<double> rates :
       {std::vector<double>{3, 1, 4, 1, 5, 9, 2}, {3, 1, 4, 1, 5, 9}, {7, 7}, {2, NAN, 6, 4}}) {
    const v1::PerClientReport report = ClientsWith(rates, std::vector<double>(rates.size(), 1));
    for (size_t i = 0; i < rates.size(); ++i) {
      if (std::isnan(rates[i])) continue;
      std::vector<double> others = rates;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      CHECK(report.clients(static_cast<int>(i)).of_others() == rates[i] / MedianOf(others));
    }
  }
  CHECK(std::isnan(ClientsWith({5}, {1}).clients(0).of_others()));
}

// In little more than proportional time: if each client were compared with each other one, this would take minutes.
TEST_CASE("20,000 clients are judged") {
  std::vector<double> rates(20'000, 100);
  rates[17] = 10;
  const v1::PerClientReport report = ClientsWith(rates, rates);
  CHECK(report.clients(17).outlier());
  CHECK_FALSE(report.clients(18).outlier());
}

TEST_CASE("of two clients, one with 70 % of the other is no outlier, and one with less is") {
  CHECK_FALSE(ClientsWith({70, 100}, {1, 1}).clients(0).outlier());
  CHECK(ClientsWith({69, 100}, {1, 1}).clients(0).outlier());
}

TEST_CASE("a client that was not measured alone leaves the sum unknown, and is no outlier") {
  const v1::PerClientReport report = ClientsWith({NAN, 100, 100}, {50, 50, 50});
  CHECK(std::isnan(report.sum_alone()));
  CHECK(std::isnan(report.scaling()));
  CHECK_FALSE(report.clients(0).outlier());
  CHECK(report.clients(1).of_others() == 1);
}

TEST_CASE("the report of a run has each client's rate alone and together") {
  // Two workers of two clients. Alone they move 100 and 40 MiB in a second; together 30 MiB each.
  const auto read_by = [](uint32_t index, const std::vector<uint64_t>& mib) {
    PhaseScript script;
    script.plan().set_name("read");
    for (uint32_t lane = 0; lane < 2; ++lane) {
      script.Worker(lane).RunsOn("c" + std::to_string(lane), "boot " + std::to_string(lane));
      if (mib[lane] == 0) {
        script.Lane(lane).SitsOut();
        script.plan().mutable_assignments(0)->mutable_who()->add_workers(1 - lane);  // the other one
      } else {
        script.Lane(lane).Moves(mib[lane] * 1_MiB).EndsAt(1_s).InOps(mib[lane]);
      }
    }
    script.phase.set_index(index);
    return script;
  };
  v1::RunRecord run = read_by(2, {30, 30}).Run();
  run.mutable_plan()->clear_phases();
  for (const uint32_t worker : {0u, 1u}) {
    v1::Phase& alone = *run.mutable_plan()->add_phases();
    alone.set_name("read on c" + std::to_string(worker));
    alone.mutable_alone()->set_phase("read");
    alone.mutable_alone()->set_client("c" + std::to_string(worker));
    alone.add_assignments()->mutable_who()->add_workers(worker);
  }
  run.mutable_plan()->add_phases()->set_name("read");
  ReportBuilder builder(run);
  builder.Begin(nullptr);
  REQUIRE(builder.report().per_client_size() == 1);
  CHECK(std::isnan(builder.report().per_client(0).clients(0).alone()));
  builder.Add(read_by(0, {100, 0}).Record());
  builder.Add(read_by(1, {0, 40}).Record());
  builder.Add(read_by(2, {30, 30}).Record());
  const v1::PerClientReport& report = builder.report().per_client(0);
  CHECK(report.phase() == "read");
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).alone() == Approx(100 * kMiB));
  CHECK(report.clients(1).alone() == Approx(40 * kMiB));
  CHECK(report.clients(1).outlier());
  CHECK(report.clients(0).together() == Approx(30 * kMiB));
  CHECK(report.together() == Approx(60 * kMiB));
  CHECK(report.scaling() == Approx(60.0 / 140));
  CHECK(report.fairness() == Approx(1));
}

}  // namespace
}  // namespace iobench

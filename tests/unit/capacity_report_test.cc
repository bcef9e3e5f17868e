#include "coordinator/capacity/capacity_report.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

// Follows the law with 100 ops/s of one client, contention of 5 % and crosstalk of 0.2 %, exactly. An open loop waits
// as M/M/1 does, before a server of twice the highest closed-loop rate.
double LawAt(double n) {
  return 100 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1));
}

StepFigures Measured(const CapacityStep& step, double drift = 1) {
  StepFigures figures{.ops = 100'000, .fairness = 1};
  if (step.is_open()) {
    figures.ops_per_s = step.offered_per_s;
    figures.mean_us = 1e6 / (2 * LawAt(21) - step.offered_per_s);
    figures.slo_figure_us = figures.slo_service_figure_us = figures.mean_us;
  } else {
    figures.ops_per_s = drift * LawAt(step.clients);
    figures.mean_us = 1e6 * step.clients * step.lanes_per_worker / figures.ops_per_s;
  }
  figures.bytes_per_s = 1000 * figures.ops_per_s;
  figures.uses = {{"link eth0 of filer1", 0.96}, {"disk sda of filer1", 0.6}};
  return figures;
}

CapacitySearch Search(CapacitySettings settings = {
                          .clients = 32, .max_lanes_per_worker = 1, .repetitions = 2, .points = 10}) {
  CapacitySearch search(settings);
  while (search.Next().has_value()) search.Note(Measured(*search.Next()));
  return search;
}

std::string AnswerTo(const CapacityQuestions& questions, size_t index = 0) {
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, questions);
  return report.answers(static_cast<int>(index)).answer();
}

TEST_CASE("the law and its peak are those of the storage") {
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, {});
  REQUIRE(report.scalings_size() == 1);
  const v1::Scaling& scaling = report.scalings(0);
  CHECK(scaling.over() == "clients");
  REQUIRE(scaling.has_usl());
  CHECK(scaling.usl().lambda().value() == Approx(100));
  CHECK(scaling.usl().sigma().value() == Approx(0.05));
  CHECK(scaling.usl().kappa().value() == Approx(0.002));
  CHECK(scaling.usl().n_star().value() == Approx(std::sqrt(0.95 / 0.002)));  // 21.8
  CHECK(scaling.usl().curve_n(scaling.usl().curve_n_size() - 1) == Approx(64));
  REQUIRE(scaling.levels_size() == 6);
  CHECK(scaling.levels(1).median_ops_per_s() == Approx(LawAt(2)));
  CHECK(std::isnan(scaling.levels(0).efficiency()));
  CHECK(scaling.levels(1).efficiency() == Approx(LawAt(2) / 100 - 1));
  CHECK(scaling.levels(5).little_error() == Approx(0).margin(1e-9));
}

TEST_CASE("the load curve, its knee, and the highest rate") {
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, {});
  CHECK(report.max().ops_per_s() == Approx(LawAt(16)));  // of 1, 2, 4, 8, 16, 32: 32 is past the peak
  CHECK(report.max().clients() == 16);
  CHECK(report.max().lanes() == 16);
  CHECK(report.max().saturation_lanes() == Approx(LawAt(16) * 0.01));  // 10 ms alone
  REQUIRE(report.curve_size() == 10);
  CHECK(report.curve(4).share_of_max() == Approx(0.5));
  CHECK(report.curve(4).mean_us() == Approx(1e6 / (2 * LawAt(21) - LawAt(16) / 2)));
  CHECK(report.curve(4).mean_low_us() == Approx(report.curve(4).mean_us()));  // both repetitions are equal
  CHECK(report.complete());
  CHECK(report.warnings().empty());
}

TEST_CASE(
    "clients needed for a rate come from the law, with their interval, and not past twice what was measured") {
  CHECK(AnswerTo({.needed_ops_per_s = LawAt(10) - 1}).find("10 clients (95 %: 10 to 10)") == 0);
  CHECK(AnswerTo({.needed_bytes_per_s = 1000 * LawAt(10) - 1}).find("10 clients") == 0);
  CHECK(AnswerTo({.needed_ops_per_s = 5000}).find("no number of such clients") == 0);
}

TEST_CASE("users are carried up to the limit") {
  const double rate = LawAt(16);
  const std::string text = AnswerTo({.users = 10, .user_per_s = rate / 20});
  CHECK(text.find("carried, which allows 20 users") != std::string::npos);
  CHECK(text.find("mean response time") != std::string::npos);
  CHECK(AnswerTo({.users = 30, .user_per_s = rate / 20}).find("not carried") != std::string::npos);
}

TEST_CASE("more of the busiest resource helps until the next one is full") {
  const std::string text = AnswerTo({});
  CHECK(text.find("at most 1.6 times") != std::string::npos);  // 0.96 / 0.6
  CHECK(text.find("where disk sda of filer1 would be full") != std::string::npos);
}

TEST_CASE("headroom is up to the highest rate, or to the load under the SLO") {
  v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, {.load_per_s = LawAt(16) / 2});
  CHECK(report.load().factor() == Approx(2));
  CHECK(report.load().unused_share() == Approx(0.5));
  CHECK(report.load().mean_us() == Approx(report.curve(4).mean_us()));
  CHECK(report.load().limit_is() == "the highest rate");
  CapacitySettings settings{.clients = 32, .max_lanes_per_worker = 1, .repetitions = 1, .points = 10};
  const double limit_per_s = LawAt(16) / 2;
  settings.slo = Slo{.text = "mean<=x", .limit_us = 1e6 / (2 * LawAt(21) - limit_per_s)};
  report = ReportOf(Search(settings), {.worker_count = 32}, {.load_per_s = limit_per_s / 2});
  CHECK(report.slo().outcome() == "found");
  CHECK(report.slo().max_ops_per_s() == Approx(limit_per_s).epsilon(0.05));
  CHECK(report.load().factor() == Approx(2).epsilon(0.05));
  CHECK(report.load().limit_is() == "the highest load with mean<=x");
}

TEST_CASE("storage that slows down from phase to phase is no steady state") {
  CapacitySearch search({.clients = 8, .max_lanes_per_worker = 1, .repetitions = 3, .points = 1});
  double drift = 1;
  while (search.Next().has_value()) {
    search.Note(Measured(*search.Next(), drift));
    drift *= 0.93;
  }
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 8}, {});
  REQUIRE_FALSE(report.warnings().empty());
  CHECK(report.warnings(0).find("no steady state") == 0);
}

TEST_CASE("too few levels give no fit, and the report says why") {
  CapacitySearch search({.clients = 2, .max_lanes_per_worker = 1, .repetitions = 1, .points = 1});
  while (search.Next().has_value()) search.Note(Measured(*search.Next()));
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 2}, {.needed_ops_per_s = 150});
  REQUIRE(report.scalings_size() == 1);
  CHECK_FALSE(report.scalings(0).has_usl());
  CHECK_FALSE(report.scalings(0).usl_refused().empty());
  CHECK(report.answers(0).answer().find("unknown: there is no fit over clients") == 0);
}

TEST_CASE("a workload is named by its operation and what shapes it") {
  v1::Phase phase;
  v1::Operation& operation = *phase.add_assignments()->mutable_operation();
  operation.set_name("random-mix");
  operation.set_read_percent(70);
  operation.set_record_bytes(8192);
  operation.set_engine("posix");
  operation.set_direct(true);
  CHECK(WorkloadText(phase) == "random-mix, 70 % reads, records of 8 KiB, O_DIRECT");
  phase.add_assignments()->mutable_operation()->set_name("stat");
  phase.mutable_assignments(1)->mutable_operation()->set_engine("posix");
  CHECK(WorkloadText(phase) == "random-mix, 70 % reads, records of 8 KiB, O_DIRECT + stat");
}

}  // namespace
}  // namespace iobench

#include "coordinator/capacity/capacity_report.h"

#include <algorithm>
#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

using Kind = CapacityStep::Kind;

// Follows the law exactly, with 100 ops/s for one client, contention of 5 % and crosstalk of 0.2 %. An open loop waits
// as in M/M/1, for a server with twice the highest closed-loop rate.
double LawAt(double n) {
  return 100 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1));
}

StepFigures Measured(const CapacityStep& step, double drift = 1) {
  StepFigures figures{.ops = 100'000, .fairness = 1};
  figures.lane_count = step.clients * step.lanes_per_worker;
  if (step.is_open()) {
    figures.ops_per_s = step.offered_per_s;
    figures.mean_us = 1e6 / (2 * LawAt(21) - step.offered_per_s);
    figures.slo_figure_us = figures.slo_service_figure_us = figures.mean_us;
  } else {
    figures.ops_per_s = drift * LawAt(step.clients);
    figures.mean_us = 1e6 * step.clients * step.lanes_per_worker / figures.ops_per_s;
  }
  figures.bytes_per_s = 1000 * figures.ops_per_s;
  figures.uses = {{"link eth0 of filer1", 0.96, "filer1", 1.25e9},
                  {"disk sda of filer1", 0.6, "filer1"},
                  {"processors of c01", 0.8}};
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

TEST_CASE("ops in flight are those of the lanes that a level had where clients differ in workers") {
  // Two workers on one client and one on the other, which take turns where one client takes part.
  CapacitySearch search({.clients = 2, .max_lanes_per_worker = 4, .repetitions = 3, .points = 1});
  while (search.Next().has_value()) {
    const CapacityStep step = *search.Next();
    const uint32_t workers = step.clients == 2 ? 3 : step.round % 2 == 0 ? 2 : 1;
    StepFigures figures = Measured(step);
    figures.lane_count = workers * step.lanes_per_worker;
    if (!step.is_open()) {
      figures.ops_per_s = (step.clients == 1 ? 100 : 10) * figures.lane_count;
      figures.mean_us = 1e6 * figures.lane_count / figures.ops_per_s;
    }
    search.Note(figures);
  }
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 3}, {});
  REQUIRE(report.scalings_size() == 2);
  for (const v1::Scaling& scaling : report.scalings()) {
    for (const v1::ScalingLevel& level : scaling.levels())
      CHECK(level.little_error() == Approx(0).margin(1e-9));
  }
  CHECK(report.scalings(1).levels(0).n() == 3);  // lanes of all workers
  CHECK(report.max().clients() == 1);
  CHECK(report.max().lanes() == 8);
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

TEST_CASE("a lane with a queue has as many ops in flight as its queue is deep, so fewer lanes saturate") {
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32, .queue_depth = 4}, {});
  CHECK(report.max().saturation_lanes() == Approx(LawAt(16) * 0.01 / 4));
}

TEST_CASE("how many lanes saturate is unknown if the operations of a mix have queues of different depths") {
  v1::Phase phase;
  phase.add_assignments()->mutable_operation()->set_name("stat");
  CHECK(QueueDepthOf(phase) == 1);
  phase.add_assignments()->mutable_operation()->set_depth(32);
  CHECK(QueueDepthOf(phase) == 0);
  phase.mutable_assignments(0)->mutable_operation()->set_depth(32);
  CHECK(QueueDepthOf(phase) == 32);
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32, .queue_depth = 0}, {});
  CHECK(std::isnan(report.max().saturation_lanes()));
}

TEST_CASE(
    "clients needed for a rate come from the law, with their interval, and not past twice what was measured") {
  CHECK(AnswerTo({.needed_ops_per_s = LawAt(10) - 1}).find("10 clients (95 %: 10 to 10)") == 0);
  CHECK(AnswerTo({.needed_bytes_per_s = 1000 * LawAt(10) - 1}).find("10 clients") == 0);
  CHECK(AnswerTo({.needed_ops_per_s = 5000}).find("no number of clients is known to reach it") == 0);
}

TEST_CASE("users are sustained up to the limit") {
  const double rate = LawAt(16);
  const std::string text = AnswerTo({.users = 10, .user_per_s = rate / 20});
  CHECK(text.find("sustained; the highest rate allows 20 users") != std::string::npos);
  CHECK(text.find("mean response time") != std::string::npos);
  CHECK(AnswerTo({.users = 30, .user_per_s = rate / 20}).find("not sustained") != std::string::npos);
}

TEST_CASE("a response time that the load curve does not have is unknown, for the right reason") {
  CapacitySearch search({.clients = 32, .max_lanes_per_worker = 1, .repetitions = 1, .points = 10});
  while (search.Next().has_value()) {
    StepFigures figures = Measured(*search.Next());
    if (search.Next()->is_open()) figures.ops_per_s = std::min(figures.ops_per_s, 0.75 * LawAt(16));
    search.Note(figures);
  }
  const auto answer_at = [&search](double share) {
    const CapacityQuestions questions{.users = 1, .user_per_s = share * LawAt(16)};
    return ReportOf(search, {.worker_count = 32}, questions).answers(0).answer();
  };
  CHECK(answer_at(0.05).find("unknown, since the load curve begins higher") != std::string::npos);
  CHECK(answer_at(0.5).find("mean response time") != std::string::npos);
  CHECK(answer_at(0.9).find("sustained; ") != std::string::npos);
  CHECK(answer_at(0.9).find("unknown, since the load curve ends below it") != std::string::npos);
  v1::CapacityReport without_curve = ReportOf(search, {.worker_count = 32}, {});
  without_curve.clear_curve();
  without_curve.clear_answers();
  AskAgain({.users = 1, .user_per_s = LawAt(16) / 2}, without_curve);
  CHECK(without_curve.answers(0).answer().find("since no load curve was measured") != std::string::npos);
}

TEST_CASE("more of the busiest resource helps until the next one is as busy") {
  const v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, {});
  REQUIRE(report.answers_size() == 2);
  CHECK(report.answers(0).question() == "a 25 GbE link for filer1, in place of 10 GbE");
  CHECK(report.answers(0).answer().find("at most 1.6 times") == 0);  // 0.96 / 0.6
  CHECK(report.answers(0).answer().find("next limit: disk sda of filer1") != std::string::npos);
  // A second server has its own disk, so the clients' processors are the next limit.
  CHECK(report.answers(1).question() == "a second server like filer1");
  CHECK(report.answers(1).answer().find("at most 1.2 times") == 0);  // 0.96 / 0.8
  CHECK(report.answers(1).answer().find("next limit: processors of c01") != std::string::npos);
}

TEST_CASE("full clients are to be more, until a server is as busy") {
  const auto answer_with = [](const std::vector<ResourceUse>& uses) {
    CapacitySearch search({.clients = 1, .max_lanes_per_worker = 8, .repetitions = 1, .points = 1});
    while (search.Next().has_value()) {
      StepFigures figures = Measured(*search.Next());
      if (!search.Next()->is_open()) figures.ops_per_s *= search.Next()->lanes_per_worker;  // no plateau
      figures.uses = uses;
      search.Note(figures);
    }
    const v1::CapacityReport report = ReportOf(search, {}, {});
    REQUIRE(report.answers_size() == 1);
    CHECK(report.answers(0).question() == "more clients, or faster ones");
    return report.answers(0).answer();
  };
  const std::vector<ResourceUse> clients = {{"processors of c01", 0.9}, {"processors of c02", 0.9}};
  std::vector<ResourceUse> all = clients;
  all.push_back({"processors of filer1", 0.1, "filer1"});
  for (const std::string& answer : {answer_with(clients), answer_with(all)}) {
    CHECK(answer.find("at most 2 times") == 0);  // and not 9
    CHECK(answer.find("no prediction goes beyond twice") != std::string::npos);
  }
}

TEST_CASE(
    "a saved report answers other questions, and keeps the answers to those that were not asked again") {
  v1::CapacityReport report = ReportOf(Search(), {.worker_count = 32}, {.needed_ops_per_s = LawAt(10) - 1});
  const v1::CapacityReport before = report;
  AskAgain({}, report);
  CHECK(report.SerializeAsString() == before.SerializeAsString());
  AskAgain({.load_per_s = LawAt(16) / 4, .needed_ops_per_s = LawAt(12) - 1}, report);
  CHECK(report.load().factor() == Approx(4));
  REQUIRE(report.answers_size() == before.answers_size() + 1);
  CHECK(report.answers(report.answers_size() - 1).answer().find("12 clients") == 0);
  AskAgain({.needed_ops_per_s = LawAt(12) - 1}, report);
  CHECK(report.answers_size() == before.answers_size() + 1);
}

TEST_CASE("figures of the clients' memory are called that") {
  CapacitySearch search({.clients = 2, .max_lanes_per_worker = 1, .repetitions = 1, .points = 2});
  while (search.Next().has_value()) {
    StepFigures figures = Measured(*search.Next());
    if (!search.Next()->is_open()) figures.marks = {"cached", "too_short"};
    search.Note(figures);
  }
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 2}, {});
  REQUIRE_FALSE(report.warnings().empty());
  CHECK(report.warnings(0).find("2 of 4 phases measured the clients' memory, at least in part (cached)") ==
        0);
}

TEST_CASE("clients needed are whole, however far the points of the law's curve lie apart") {
  CapacitySearch search({.clients = 1000, .max_lanes_per_worker = 1, .repetitions = 1, .points = 1});
  while (search.Next().has_value()) {
    StepFigures figures = Measured(*search.Next());
    figures.ops_per_s = 10.0 * search.Next()->clients;
    search.Note(figures);
  }
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 1000}, {.needed_ops_per_s = 5030});
  CHECK(report.answers(0).answer().find("503 clients") == 0);
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
  CHECK(report.load().limit_is() == "the highest load that meets mean<=x");
}

TEST_CASE("a load is unknown to be too high where nothing was measured") {
  v1::CapacityReport report;
  AskAgain({.load_per_s = 100}, report);
  CHECK_FALSE(report.has_load());
  REQUIRE(report.answers_size() == 1);
  CHECK(report.answers(0).question() == "headroom at 100 ops/s");
  CHECK(report.answers(0).answer() == "unknown, nothing was measured");
}

TEST_CASE("an SLO that no load is known to meet leaves no headroom and no users, whatever the highest rate") {
  CapacitySettings settings{.clients = 32, .max_lanes_per_worker = 1, .repetitions = 1, .points = 10};
  settings.slo = Slo{.text = "mean<=1us", .limit_us = 1};  // less than any op takes
  const CapacitySearch missed = Search(settings);
  CapacitySearch stopped(settings), unclear(settings);
  while (stopped.Next().has_value() && stopped.Next()->kind != Kind::kSlo) {
    stopped.Note(Measured(*stopped.Next()));
  }
  while (unclear.Next().has_value()) {
    StepFigures figures = Measured(*unclear.Next());
    if (unclear.Next()->kind == Kind::kSlo) figures.ops = 1;
    unclear.Note(figures);
  }
  const CapacityQuestions questions{.load_per_s = LawAt(16) / 2, .users = 10, .user_per_s = LawAt(16) / 20};
  const struct {
    const CapacitySearch& search;
    const char* outcome;
  } cases[] = {{missed, "cannot_be_met"}, {stopped, "stopped"}, {unclear, "inconclusive"}};
  for (const auto& one : cases) {
    INFO(one.outcome);
    v1::CapacityReport report = ReportOf(one.search, {.worker_count = 32}, questions);
    CHECK(report.slo().outcome() == one.outcome);
    REQUIRE(report.has_load());
    CHECK(report.load().limit_per_s() == 0);
    CHECK(report.load().factor() == 0);
    CHECK(std::isnan(report.load().unused_share()));
    CHECK(report.load().mean_us() == Approx(report.curve(4).mean_us()));
    CHECK(report.answers(0).answer().find("no load is known to meet mean<=1us") != std::string::npos);
    report.clear_load();
    AskAgain(questions, report);
    REQUIRE(report.has_load());
    CHECK(report.load().factor() == 0);
  }
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

// Closed loops whose rate is `rate_of(lanes)`, slightly different in each repetition.
template <typename RateOf>
v1::CapacityReport WithLanes(uint32_t lanes, const CapacityQuestions& questions, const RateOf& rate_of) {
  CapacitySearch search({.clients = 1, .max_lanes_per_worker = lanes, .repetitions = 3, .points = 1});
  while (search.Next().has_value()) {
    const CapacityStep step = *search.Next();
    StepFigures figures = Measured(step);
    if (!step.is_open()) figures.ops_per_s = rate_of(step.lanes_per_worker) * (1 + 0.004 * (step.round - 1.0));
    figures.uses = {{"processors of c01", 0.95}};
    search.Note(figures);
  }
  return ReportOf(search, {.worker_count = 1}, questions);
}

TEST_CASE("above a ceiling that was measured beyond, nothing is predicted, and more is not promised") {
  const auto ceiling = [](double lanes) { return std::min(50 * lanes, 200.0); };
  const v1::CapacityReport report = WithLanes(32, {.needed_ops_per_s = 210}, ceiling);
  const v1::Scaling& scaling = report.scalings(0);
  CHECK_FALSE(scaling.has_usl());
  CHECK(scaling.fit_p() < 0.01);
  CHECK(scaling.usl_refused().find("the law does not fit: with ") == 0);
  CHECK(scaling.plateau_n() == 4);
  CHECK(report.answers(0).question() == "lanes for 210 ops/s");
  CHECK(report.answers(0).answer().find("no number of lanes is known to reach it: the highest rate measured is 200") == 0);
  // Within the ceiling, what was measured is interpolated: 150 ops/s is half way from 100 with 2 to 200 with 4.
  CHECK(WithLanes(32, {.needed_ops_per_s = 150}, ceiling).answers(0).answer() ==
        "3 lanes (95 %: 3 to 4), interpolated between those measured");
  // The client's processors are busy: without the ceiling, twice the rate would be possible.
  REQUIRE(report.answers_size() == 2);
  CHECK(report.answers(1).question() == "more clients, or faster ones");
  CHECK(report.answers(1).answer().find("unknown: from 4 lanes on, more, up to 32, bring no more than 200") == 0);
}

// Closed loops of two clients whose rate is `rate_of(clients)`, which differs by 1 % between the repetitions.
template <typename RateOf>
v1::CapacityReport WithTwoClients(const CapacityQuestions& questions, const RateOf& rate_of) {
  CapacitySearch search({.clients = 2, .max_lanes_per_worker = 1, .repetitions = 2, .points = 1});
  while (search.Next().has_value()) {
    const CapacityStep step = *search.Next();
    StepFigures figures = Measured(step);
    if (!step.is_open()) figures.ops_per_s = rate_of(step.clients) * (step.round % 2 == 0 ? 0.995 : 1.005);
    if (!step.is_open()) figures.mean_us = 1e6 * figures.lane_count / figures.ops_per_s;
    search.Note(figures);
  }
  return ReportOf(search, {.worker_count = 2}, questions);
}

TEST_CASE("clients that each have a limit of their own are as many as it takes: 300 / 58 is 6") {
  const auto two_links = [](double clients) { return 58 * clients; };
  const v1::CapacityReport report =
      WithTwoClients({.load_per_s = 300, .needed_ops_per_s = 300, .users = 30, .user_per_s = 10}, two_links);
  CHECK(report.answers(0).question() == "clients for 300 ops/s");
  CHECK(report.answers(0).answer().find("6 clients (95 %: 6 to 6): each has a limit of its own, 58 ops/s") == 0);
  CHECK(report.load().limit_is().find("the highest rate of these clients") == 0);
  CHECK(report.answers(1).answer().find("not reached by these clients") != std::string::npos);
  REQUIRE(report.warnings_size() == 1);
  CHECK(report.warnings(0).find("the rate rose in proportion to the clients up to all 2") == 0);
  // 7 in error's reach: 58 ops/s each with 2 % of error is 5.9 to 6.1 for 348.
  CHECK(WithTwoClients({.needed_ops_per_s = 348}, two_links).answers(0).answer().find("6 clients (95 %: 6 to 7)") == 0);
}

TEST_CASE("no number of clients is named for a link that they share, full with one") {
  const auto shared_link = [](double) { return 58; };
  const v1::CapacityReport report = WithTwoClients({.needed_ops_per_s = 300}, shared_link);
  CHECK(report.answers(0).answer().find("no number of clients is known to reach it") == 0);
  CHECK(report.answers(0).answer().find("adding clients does not help") != std::string::npos);
  CHECK(report.warnings().empty());
  // A gain that the repetitions show, but that is 5 % of what one client brings.
  const auto nearly = [](double clients) { return 58 * (1 + 0.05 * (clients - 1)); };
  const std::string answer = WithTwoClients({.needed_ops_per_s = 300}, nearly).answers(0).answer();
  CHECK(answer.find("no number of clients is known to reach it") == 0);
  // Half of what one brings: neither in proportion nor full. 300 / 43.5 is 6.9.
  const auto half = [](double clients) { return 58 * (1 + 0.5 * (clients - 1)); };
  CHECK(WithTwoClients({.needed_ops_per_s = 300}, half).answers(0).answer().find("more than 2 clients, at least 7") == 0);
}

TEST_CASE("a peak of the law limits what more clients are said to bring") {
  const v1::CapacityReport report = WithLanes(32, {}, [](double lanes) { return LawAt(lanes); });
  REQUIRE(report.scalings(0).has_usl());
  REQUIRE(report.scalings(0).usl().has_x_max());
  REQUIRE(report.answers_size() == 1);
  CHECK(report.answers(0).answer().find("unknown: by the fit over lanes, the rate peaks at ") == 0);
}

TEST_CASE("too few levels give no fit, and the report says why") {
  CapacitySearch search({.clients = 2, .max_lanes_per_worker = 1, .repetitions = 1, .points = 1});
  while (search.Next().has_value()) search.Note(Measured(*search.Next()));
  const v1::CapacityReport report = ReportOf(search, {.worker_count = 2}, {.needed_ops_per_s = 150});
  REQUIRE(report.scalings_size() == 1);
  CHECK_FALSE(report.scalings(0).has_usl());
  CHECK_FALSE(report.scalings(0).usl_refused().empty());
  CHECK(report.answers(0).answer() == 
        "2 clients, of which the error is unknown without repetitions, interpolated between those measured");
  v1::CapacityReport more = report;
  AskAgain({.needed_ops_per_s = 500}, more);
  CHECK(more.answers(more.answers_size() - 1).answer().find("more than 2 clients, at least 6, if each kept its ") == 0);
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

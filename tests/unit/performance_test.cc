// Verdicts on rates that are written here, so that each can be worked out by hand.
#include "coordinator/validate/performance/performance.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "coordinator/analysis/per_client.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/validate/check.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

using Catch::Contains;

constexpr double kMB = 1e6;

// A measurement of phases by clients "c0", "c1" …, whose rates a test gives.
struct Rates {
  Performance measured;

  v1::PhaseReport& Phase(const std::string& name, double rate, bool in_ops) {
    v1::PhaseReport& phase = *measured.report.add_phases();
    phase.set_name(name);
    phase.set_duration_s(3);
    phase.set_headline_in_ops(in_ops);
    in_ops ? phase.mutable_headline()->set_ops_per_s(rate) : phase.mutable_headline()->set_bytes_per_s(rate);
    return phase;
  }
  v1::PhaseReport& Of(const std::string& name) {
    for (v1::PhaseReport& phase : *measured.report.mutable_phases()) {
      if (phase.name() == name) return phase;
    }
    FAIL("no phase " << name);
    return *measured.report.mutable_phases(0);
  }
  Rates& Add(const std::string& name, const std::vector<double>& alone, const std::vector<double>& together,
             bool in_ops = false) {
    v1::PerClientReport& clients = *measured.report.add_per_client();
    clients.set_phase(name);
    clients.set_in_ops(in_ops);
    double sum = 0;
    for (size_t i = 0; i < alone.size(); ++i) {
      v1::PerClientRow& row = *clients.add_clients();
      row.set_client("c" + std::to_string(i));
      row.set_alone(alone[i]);
      row.set_together(together[i]);
      sum += together[i];
      Phase(name + " on " + row.client(), alone[i], in_ops);
    }
    Phase(name, sum, in_ops);
    clients.set_together(sum);
    JudgeClients(clients);
    return *this;
  }
};

using JudgeOfRates = void (*)(const Performance&, const PerformanceLimits&, Outcome&);

v1::ValidateCheck Judged(JudgeOfRates judge, const Rates& rates, const PerformanceLimits& limits = {}) {
  v1::ValidateCheck check;
  Outcome outcome(check);
  judge(rates.measured, limits, outcome);
  return check;
}

v1::ValidateCheck JudgedBy(const std::string& expectations, const Rates& rates) {
  const auto expected = ParseExpectations("e.yaml", expectations);
  INFO(expected.status().message());
  REQUIRE(expected.ok());
  v1::ValidateCheck check;
  Outcome outcome(check);
  JudgeExpectations(*expected, {}, &rates.measured, {{"c0", {.nic = 125 * kMB}}, {"c1", {.nic = 125 * kMB}}},
                    outcome);
  return check;
}

Rates EvenRates() {
  return Rates()
      .Add("write", {100 * kMB, 90 * kMB}, {50 * kMB, 45 * kMB})
      .Add("read", {110 * kMB, 110 * kMB}, {100 * kMB, 100 * kMB});
}

TEST_CASE("clients that are about equally fast pass, whatever their rates are") {
  const v1::ValidateCheck check = Judged(JudgeClientRates, EvenRates());
  CHECK(check.verdict() == "pass");
  CHECK(check.evidence().empty());
  REQUIRE(check.figures_size() == 4);
  CHECK(check.figures(0).name() == "write_alone_c0");
  CHECK(check.figures(0).value() == 100 * kMB);
}

TEST_CASE("a client below half of the others fails, and one below 70 % is a warning; both are named") {
  const auto verdict_with = [](double slow) {
    return Judged(JudgeClientRates,
                  Rates().Add("write", {100, slow, 100}, {1, 1, 1}).Add("read", {1, 1, 1}, {1, 1, 1}));
  };
  CHECK(verdict_with(71).verdict() == "pass");
  CHECK(verdict_with(69).verdict() == "warn");
  CHECK_THAT(verdict_with(69).evidence(0), Contains("c1: write alone") && Contains("69 % of the median"));
  CHECK(verdict_with(49).verdict() == "fail");
  CHECK_THAT(verdict_with(49).found(), Contains("c1 is slower"));
  CHECK_FALSE(verdict_with(49).advice().empty());
}

TEST_CASE("the limit may be another one, and an expectation replaces it") {
  const Rates rates = Rates().Add("write", {60, 100}, {1, 1}).Add("read", {1, 1}, {1, 1});
  CHECK(Judged(JudgeClientRates, rates).verdict() == "warn");
  CHECK(Judged(JudgeClientRates, rates, {.outlier_fail = 0.65}).verdict() == "fail");
  const auto expected = ParseExpectations("e.yaml", "performance:\n  outlier_min: 55 %\n");
  REQUIRE(expected.ok());
  CHECK(Judged(JudgeClientRates, rates, WithExpectations({}, *expected)).verdict() == "pass");
}

TEST_CASE("a phase that was too short to judge only warns") {
  Rates rates = Rates().Add("write", {10, 100}, {1, 1}).Add("read", {1, 1}, {1, 1});
  CHECK(Judged(JudgeClientRates, rates).verdict() == "fail");
  rates.Of("write on c0").set_duration_s(0.2);
  CHECK(Judged(JudgeClientRates, rates).verdict() == "warn");
}

TEST_CASE("data from the client's own memory do not pass as the server's") {
  Rates rates = EvenRates();
  v1::Mark& mark = *rates.Of("read on c1").add_marks();
  mark.set_code("cached");
  mark.set_text("90 % came from memory");
  const v1::ValidateCheck check = Judged(JudgeClientRates, rates);
  CHECK(check.verdict() == "warn");
  CHECK_THAT(check.evidence(0), Contains("read on c1 is marked cached"));
  const v1::ValidateCheck expected = JudgedBy("performance:\n  client_read_min: 1 MB/s\n", rates);
  CHECK(expected.verdict() == "fail");
  CHECK_THAT(expected.evidence(0), Contains("undecided: read on c1"));
}

TEST_CASE("no threshold is met by a phase whose data did not come from the server or go there") {
  const struct {
    const char* threshold;
    const char* marked_phase;
    const char* verdict;
  } cases[] = {{"client_stat_min: 1/s", "stat on c1", "fail"},  {"client_stat_min: 1/s", "stat", "pass"},
               {"total_stat_min: 1/s", "stat", "fail"},         {"total_stat_min: 1/s", "stat on c1", "pass"},
               {"stat_p99_max: 1 s", "stat on c1", "fail"},     {"stat_p99_max: 1 s", "stat", "fail"},
               {"read_longest_max: 1 s", "read on c0", "fail"}, {"read_longest_max: 1 s", "write", "pass"},
               {"scaling_min: 1 %", "write on c0", "fail"},     {"scaling_min: 1 %", "read", "fail"},
               {"fairness_min: 1 %", "read", "fail"},           {"fairness_min: 1 %", "read on c0", "pass"},
               {"outlier_min: 1 %", "write on c1", "fail"},     {"outlier_min: 1 %", "write", "pass"}};
  for (const auto& one : cases) {
    INFO(one.threshold << ", marked: " << one.marked_phase);
    Rates rates = EvenRates().Add("stat", {1000, 1000}, {900, 900}, true);
    for (v1::PhaseReport& phase : *rates.measured.report.mutable_phases()) {
      phase.mutable_latency_us()->set_count(1000);
      phase.mutable_latency_us()->set_p99(5000);
      phase.mutable_latency_us()->set_max(90'000);
    }
    const std::string expectations = std::string("performance:\n  ") + one.threshold + "\n";
    CHECK(JudgedBy(expectations, rates).verdict() == "pass");
    rates.Of(one.marked_phase).add_marks()->set_code("cached");
    const v1::ValidateCheck check = JudgedBy(expectations, rates);
    CHECK(check.verdict() == one.verdict);
    if (check.verdict() == "fail") {
      CHECK_THAT(check.evidence(0), Contains(std::string("undecided: ") + one.marked_phase));
    }
  }
}

TEST_CASE("a phase that failed fails, with its error") {
  Rates rates = Rates().Add("write", {NAN, 100}, {1, 1}).Add("read", {1, 1}, {1, 1});
  rates.measured.errors["write on c0"] = "c0: no space left on device";
  const v1::ValidateCheck check = Judged(JudgeClientRates, rates);
  CHECK(check.verdict() == "fail");
  CHECK_THAT(check.evidence(0), Contains("no space left"));
}

TEST_CASE("a total far below the sum is a fact, and an uneven one fails") {
  CHECK(Judged(JudgeScaling, Rates().Add("write", {100, 100, 100}, {34, 33, 33})).verdict() == "pass");
  const v1::ValidateCheck uneven = Judged(JudgeScaling, Rates().Add("write", {100, 100}, {10, 90}));
  CHECK(uneven.verdict() == "fail");  // 10 of a mean of 50
  CHECK_THAT(uneven.evidence(0), Contains("c0: write") && Contains("20 % of the mean"));
  CHECK(Judged(JudgeScaling, Rates().Add("write", {100, 100}, {30, 70})).verdict() == "warn");
  CHECK(Judged(JudgeScaling, Rates().Add("write", {100, 100}, {20, 20})).verdict() ==
        "warn");  // less than one alone
  CHECK(Judged(JudgeScaling, Rates().Add("write", {100, 100}, {60, 60}), {.scaling_fail = 0.7}).verdict() ==
        "fail");
}

v1::ValidateCheck JudgedNetwork(const NetworkOfClients& network, const std::string& not_measured = "") {
  v1::ValidateCheck check;
  Outcome outcome(check);
  JudgeNetwork(EvenRates().measured, network, not_measured, {}, outcome);
  return check;
}

NetworkLimits Carries(double to_mb, double from_mb) {
  return {.nic = NAN, .to = to_mb * kMB, .from = from_mb * kMB};
}

TEST_CASE(
    "an uneven total only warns if the first lane was done within a second, however long the phase took") {
  for (const double counted_s : {0.4, 1.5}) {
    Rates rates = Rates().Add("write", {100 * kMB, 100 * kMB}, {10 * kMB, 90 * kMB});
    rates.Of("write").set_measured_bytes(static_cast<uint64_t>(counted_s * 100 * kMB));
    CHECK(Judged(JudgeScaling, rates).verdict() == (counted_s < 1 ? "warn" : "fail"));
  }
}

TEST_CASE("a client that does not fill its link is a warning, and an unknown link is skipped") {
  const auto judged = JudgedNetwork;
  const NetworkLimits gigabit{.nic = 125 * kMB}, ten_gigabit{.nic = 1250 * kMB};
  CHECK(judged({{"c0", gigabit}, {"c1", gigabit}}, "").verdict() == "pass");
  const v1::ValidateCheck slow = judged({{"c0", gigabit}, {"c1", ten_gigabit}}, "");
  CHECK(slow.verdict() == "warn");
  REQUIRE(slow.evidence_size() == 1);
  CHECK_THAT(slow.evidence(0), Contains("c1: ") && Contains(", 9 % of its interface"));
  const v1::ValidateCheck unknown = judged({}, "no route");
  CHECK(unknown.verdict() == "skipped");
  CHECK_THAT(unknown.found(), Contains("TCP to the coordinator was not measured: no route"));
}

// Alone, c0 writes 100 MB/s and reads 110, c1 90 and 110.
TEST_CASE(
    "where no interface tells its speed, TCP to the coordinator takes its place, direction by direction") {
  const v1::ValidateCheck fine = JudgedNetwork({{"c0", Carries(160, 160)}, {"c1", Carries(140, 300)}});
  CHECK(fine.verdict() == "pass");  // c0 reads 69 %, c1 writes 64 %
  CHECK_THAT(fine.found(),
             Contains("c1: write 85.8 MiB/s, read 105 MiB/s, 64 % of what TCP carries; TCP carries 134 "
                      "MiB/s to the coordinator and 286 MiB/s from it"));
  const v1::ValidateCheck low = JudgedNetwork({{"c0", Carries(520, 540)}, {"c1", Carries(560, 560)}});
  CHECK(low.verdict() == "warn");  // c1 reads 19.6 %, c0 20.4 %
  CHECK(low.found() == "1 client below 20 % of what the network carries");
  NetworkLimits nic = Carries(560, 560);
  nic.nic = 200 * kMB;
  CHECK(JudgedNetwork({{"c0", Carries(520, 540)}, {"c1", nic}}).found() ==
        "1 client below 60 % of what the network carries");
  NetworkLimits both = Carries(50, 50);
  both.nic = 125 * kMB;
  const v1::ValidateCheck nominal = JudgedNetwork({{"c0", both}});
  CHECK(nominal.verdict() ==
        "pass");  // a coordinator behind a slow link says nothing about the client's interface
  CHECK_THAT(nominal.found(), Contains("of its interface, which carries 119 MiB/s; TCP carries 47.7 MiB/s"));
}

TEST_CASE("clients with equal host names have a network each") {
  Validated run(2, "vm");
  (*run.targets[0].mutable_targets(0)->mutable_settings())["nic_mbit_per_s"] = "1000";
  (*run.targets[1].mutable_targets(0)->mutable_settings())["nic_mbit_per_s"] = "10000";
  Rates rates = EvenRates();
  for (v1::PerClientReport& each : *rates.measured.report.mutable_per_client()) {
    each.mutable_clients(0)->set_client("vm");
    each.mutable_clients(1)->set_client("vm (2)");
  }
  run.measure = [&rates] { return rates.measured; };
  run.Run("network-limit");
  CHECK(run.Verdict("network-limit") == "warn");
  CHECK(run.Of("network-limit").figures_size() == 2);
  REQUIRE(run.Of("network-limit").evidence_size() == 1);
  CHECK_THAT(run.Of("network-limit").evidence(0), Contains("vm (2): ") && Contains(", 9 % of its interface"));
  REQUIRE(run.report.clients_size() == 2);
  CHECK(run.report.clients(1).host() == "vm (2)");
}

TEST_CASE("a share of the network is not met by a phase whose data did not come from the server") {
  Rates rates = EvenRates();
  const auto judged = [&rates](const std::string& share) {
    return JudgedBy("performance:\n  network_min: " + share + "\n", rates);
  };
  CHECK(judged("85 %").verdict() == "pass");  // c1 reads 110 of 125
  rates.Of("read on c1").add_marks()->set_code("cached");
  CHECK(judged("85 %").verdict() == "fail");
  CHECK_THAT(judged("85 %").evidence(0), Contains("undecided: c1 reaches 88 % only in a phase"));
  CHECK(judged("70 %").verdict() == "pass");  // c1 writes 90 of 125
  CHECK_THAT(judged("70 %").evidence(0), Contains("met: network_min 70 %: 72 %"));
  rates.Of("write on c1").add_marks()->set_code("unflushed");
  CHECK(judged("1 %").verdict() == "fail");
}

TEST_CASE(
    "a client whose network is slower than that of the others is named, although its files are as slow") {
  const v1::ValidateCheck check =
      JudgedNetwork({{"c0", Carries(110, 120)}, {"c1", Carries(110, 59)}, {"c2", Carries(110, 120)}});
  CHECK(check.verdict() == "warn");
  CHECK(check.found() == "the network of c1 is slower than that of the others");
  REQUIRE(check.evidence_size() == 1);
  CHECK_THAT(check.evidence(0),
             Contains("c1: TCP carries 56.3 MiB/s from the coordinator, 49 % of the median"));
  CHECK(JudgedNetwork({{"c0", Carries(110, 120)}, {"c1", Carries(110, 61)}}).verdict() == "pass");
}

TEST_CASE("latencies are facts unless something is expected of them") {
  Rates rates = EvenRates();
  v1::Latency& latency = *rates.Of("write").mutable_latency_us();
  latency.set_count(1000);
  latency.set_p99(5000);
  latency.set_max(90'000);
  const auto judged = [&rates](const Expectations& expected) {
    v1::ValidateCheck check;
    Outcome outcome(check);
    JudgeLatencies(rates.measured, expected, outcome);
    return check;
  };
  CHECK(judged({}).verdict() == "pass");
  CHECK(judged({}).found() == "of all clients: write p99 5 ms, longest 90 ms");
  CHECK(judged(*ParseExpectations("e", "performance:\n  write_p99_max: 5 ms\n")).verdict() == "pass");
  CHECK(judged(*ParseExpectations("e", "performance:\n  write_p99_max: 4 ms\n")).verdict() == "fail");
  CHECK(judged(*ParseExpectations("e", "performance:\n  write_longest_max: 80 ms\n")).verdict() == "fail");
}

TEST_CASE("metadata rates are facts, and their outliers are judged") {
  const auto with = [](double slow) {
    return Rates()
        .Add("create", {slow, 100}, {50, 50}, true)
        .Add("stat", {1000, 1000}, {900, 900}, true)
        .Add("unlink", {100, 100}, {50, 50}, true);
  };
  const v1::ValidateCheck check = Judged(JudgeMetadataRates, with(100));
  CHECK(check.verdict() == "pass");
  CHECK(check.found() == "all clients together: create 100/s, stat 1,800/s, unlink 100/s");
  CHECK(Judged(JudgeMetadataRates, with(51)).verdict() == "pass");
  CHECK(Judged(JudgeMetadataRates, with(49)).verdict() == "warn");
  CHECK(Judged(JudgeMetadataRates, with(19)).verdict() == "fail");
}

TEST_CASE("thresholds are met by the worst client, and all that miss them are named") {
  const Rates rates = EvenRates();
  CHECK(JudgedBy("performance:\n  client_write_min: 90 MB/s\n", rates).verdict() == "pass");
  const v1::ValidateCheck check = JudgedBy("performance:\n  client_write_min: 95 MB/s\n", rates);
  CHECK(check.verdict() == "fail");
  CHECK(check.evidence(0) == "not met: client_write_min 95 MB/s: c1 has 85.8 MiB/s (e.yaml:2)");
  CHECK(JudgedBy("performance:\n  total_read_min: 200 MB/s\n", rates).verdict() == "pass");
  CHECK(JudgedBy("performance:\n  total_read_min: 201 MB/s\n", rates).verdict() == "fail");
  CHECK(JudgedBy("performance:\n  scaling_min: 50 %\n", rates).verdict() == "pass");
  CHECK(JudgedBy("performance:\n  scaling_min: 60 %\n", rates).verdict() == "fail");  // write: 95 of 190
  CHECK(JudgedBy("performance:\n  network_min: 88 %\n", rates).verdict() == "pass");  // 110 of 125
  CHECK(JudgedBy("performance:\n  network_min: 89 %\n", rates).verdict() == "fail");
}

TEST_CASE("the phases of a validation are a plan that can run, whose reads are not of the page cache") {
  v1::Plan plan;
  plan.add_targets()->set_path("/mnt/nfs");
  UsePerformancePhases({.bytes = 64 << 20, .seconds = 2}, plan);
  CompletePlan(plan);
  const absl::Status checked = CheckPlan(plan);
  INFO(checked.message());
  CHECK(checked.ok());
  CHECK(plan.per_client());
  CHECK(plan.files().bytes_per_lane() * plan.lanes_per_worker() == 64 << 20);
  REQUIRE(plan.phases_size() == 5);
  CHECK(plan.phases(0).region().fsync());
  CHECK(plan.phases(0).region().close());
  CHECK(plan.phases(0).stonewall() == v1::STONEWALL_FLUSHED);
  CHECK(plan.phases(1).before(0).has_drop_caches());
  CHECK(plan.phases(1).assignments(0).operation().rotate_clients());
  CHECK(SecondsOfPhases(plan) > 10);
}

}  // namespace
}  // namespace iobench

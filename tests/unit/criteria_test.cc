// Whether a run met its criteria.
#include "coordinator/analysis/criteria.h"

#include <cmath>
#include <string>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

constexpr double kMiB = 1024.0 * 1024;

// A run of write and read, with 900 and 1200 MiB/s.
v1::RunReport WriteAndRead(const std::string& criterion) {
  v1::RunReport report;
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  plan.set_repetitions(1);
  plan.add_criteria(criterion);
  for (const auto& [name, mib_per_s] : {std::pair{"write", 900.0}, {"read", 1200.0}}) {
    v1::Phase& planned = *plan.add_phases();
    planned.set_name(name);
    planned.add_assignments()->mutable_operation()->set_name(name);
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_index(static_cast<uint32_t>(report.phases_size()) - 1);
    phase.set_name(name);
    phase.mutable_headline()->set_bytes_per_s(mib_per_s * kMiB);
    phase.mutable_latency_us()->set_count(5000);
    phase.mutable_latency_us()->set_p50(100);
    phase.mutable_latency_us()->set_p99(2000);
    phase.mutable_latency_us()->add_unsure("p99");
    phase.mutable_lanes_bytes_per_s()->set_jain(0.95);
  }
  return report;
}

v1::CriterionReport Verdict(v1::RunReport report) {
  UpdateCriteria(report);
  UpdateCriteria(report);  // replaces the first verdict
  REQUIRE(report.criteria_size() == 1);
  return report.criteria(0);
}

TEST_CASE("a figure that equals its limit meets it") {
  const v1::CriterionReport met = Verdict(WriteAndRead("write>=900MiB/s"));
  CHECK(met.met());
  CHECK(met.criterion() == "write>=900MiB/s");
  CHECK(met.phase() == "write");
  CHECK(met.measured() == 900 * kMiB);
  CHECK(met.limit() == 900 * kMiB);
  CHECK(met.unit() == "B/s");
  CHECK(met.problem().empty());
  const v1::CriterionReport missed = Verdict(WriteAndRead("write>=901MiB/s"));
  CHECK_FALSE(missed.met());
  CHECK(missed.problem().empty());
  CHECK(Verdict(WriteAndRead("write<=900MiB/s")).met());
  CHECK_FALSE(Verdict(WriteAndRead("write<=899MiB/s")).met());
}

TEST_CASE("until steady, only the rounds of the window are judged") {
  v1::RunReport report = WriteAndRead("write>=900MiB/s");
  report.mutable_run()->mutable_plan()->mutable_until_steady();
  for (uint32_t round = 1; round < 3; ++round) {
    for (int place : {0, 1}) {
      v1::PhaseReport& phase = *report.add_phases() = report.phases(place);
      phase.set_index(2 * round + static_cast<uint32_t>(place));
      phase.set_repetition(round);
    }
  }
  report.mutable_phases(0)->mutable_headline()->set_bytes_per_s(100 * kMiB);  // the first round
  v1::SteadyRow& row = *report.mutable_steady()->add_rows();
  report.mutable_steady()->set_rounds(3);
  row.set_first_round(1);
  CHECK_FALSE(Verdict(report).met());
  CHECK(Verdict(report).phase() == "write, round 1");
  report.mutable_steady()->mutable_rows(0)->set_first_round(2);
  CHECK(Verdict(report).met());
}

TEST_CASE("a criterion on a flush call is judged by its latencies, in the phases that make it") {
  const auto with_call = [](const std::string& criterion) {
    v1::RunReport report = WriteAndRead(criterion);
    v1::Phase& planned = *report.mutable_run()->mutable_plan()->mutable_phases(0);
    planned.mutable_region()->set_fsync(true);
    planned.mutable_assignments(0)->mutable_operation()->set_engine("posix");
    v1::Latency& fsync = *(*report.mutable_phases(0)->mutable_by_kind())["fsync"].mutable_latency_us();
    fsync.set_count(20'000);
    fsync.set_p99(9000);
    fsync.set_p99_9(9900);
    fsync.add_unsure("p99_9");
    return Verdict(std::move(report));
  };
  CHECK(with_call("fsync:p99<=10ms").met());
  CHECK(with_call("fsync:p99<=10ms").measured() == 9000);
  CHECK(with_call("fsync:p99<=10ms").phase() == "write");
  CHECK_FALSE(with_call("write:fsync:p99<=8ms").met());
  CHECK(with_call("write:fsync:p99<=8ms").problem().empty());
  CHECK(with_call("fsync:p99.9<=10ms").problem() ==
        "fewer than 100 calls lie beyond that percentile: it takes 100,000 of them, and there were 20,000");
  CHECK_FALSE(with_call("read:close:p99<=10ms").problem().empty());  // a plan that was not checked
}

TEST_CASE("flush calls are judged whatever was read from memory, or written after the last of them") {
  for (const auto& [code, decides] : {std::pair("unflushed", true), std::pair("cached", true), std::pair("maybe_cached", true),
                                      std::pair("server_cached", true), std::pair("not_cold", true), std::pair("memory_fs", false),
                                      std::pair("absorbed", false), std::pair("too_short", false), std::pair("partial", false)}) {
    v1::RunReport report = WriteAndRead("write:fsync:p99<=10ms");
    v1::Latency& fsync = *(*report.mutable_phases(0)->mutable_by_kind())["fsync"].mutable_latency_us();
    fsync.set_count(20'000);
    fsync.set_p99(9000);
    report.mutable_phases(0)->add_marks()->set_code(code);
    INFO(code);
    CHECK(Verdict(report).met() == decides);
  }
}

TEST_CASE("the worst phase decides") {
  const v1::CriterionReport least = Verdict(WriteAndRead("*>=1000MiB/s"));
  CHECK_FALSE(least.met());
  CHECK(least.phase() == "write");
  const v1::CriterionReport most = Verdict(WriteAndRead("*<=1000MiB/s"));
  CHECK_FALSE(most.met());
  CHECK(most.phase() == "read");
  CHECK(most.measured() == 1200 * kMiB);
  CHECK(Verdict(WriteAndRead("read:jain>=0.95")).met());
}

TEST_CASE("every repetition must meet a criterion") {
  v1::RunReport report = WriteAndRead("write>=850MiB/s");
  report.mutable_run()->mutable_plan()->set_repetitions(2);
  v1::PhaseReport& again = *report.add_phases();
  again = report.phases(0);
  again.set_index(2);
  again.mutable_headline()->set_bytes_per_s(800 * kMiB);
  const v1::CriterionReport verdict = Verdict(report);
  CHECK_FALSE(verdict.met());
  CHECK(verdict.phase() == "write, 2 of 2");
  CHECK(verdict.measured() == 800 * kMiB);
}

TEST_CASE("a phase that did not run leaves a criterion undecided, unless another one misses it") {
  v1::RunReport report = WriteAndRead("*>=850MiB/s");
  report.mutable_phases()->RemoveLast();
  const v1::CriterionReport undecided = Verdict(report);
  CHECK_FALSE(undecided.met());
  CHECK(undecided.phase() == "read");
  CHECK(undecided.problem() == "it did not run");
  CHECK(std::isnan(undecided.measured()));
  report.mutable_phases(0)->mutable_headline()->set_bytes_per_s(kMiB);
  const v1::CriterionReport missed = Verdict(report);
  CHECK(missed.phase() == "write");
  CHECK(missed.problem().empty());
  CHECK_FALSE(missed.met());
}

TEST_CASE("a figure that is in doubt decides nothing, one that only explains itself does") {
  for (const std::string code : {"unflushed", "cached", "generator_bound", "too_short", "memory_fs"}) {
    v1::RunReport report = WriteAndRead("write>=1MiB/s");
    report.mutable_phases(0)->add_marks()->set_code(code);
    const v1::CriterionReport verdict = Verdict(report);
    CHECK_FALSE(verdict.met());
    CHECK(verdict.problem() == "it is marked " + code);
    CHECK(verdict.measured() == 900 * kMiB);
  }
  v1::RunReport bound = WriteAndRead("write>=1MiB/s");
  bound.mutable_phases(0)->add_marks()->set_code("network_bound");
  CHECK(Verdict(bound).met());
  v1::RunReport interrupted = WriteAndRead("write>=1MiB/s");
  interrupted.mutable_phases(0)->set_not_whole("interrupted, 1 lane failed");
  CHECK(Verdict(interrupted).problem() == "it is not whole: interrupted, 1 lane failed");
  v1::RunReport none = WriteAndRead("write>=1MiB/s");
  none.mutable_phases(0)->mutable_headline()->set_bytes_per_s(std::nan(""));
  CHECK(Verdict(none).problem() == "it has no such figure");
}

TEST_CASE("a rate that only the mean of several levels reaches decides nothing") {
  const auto with_levels = [](const std::string& criterion, double before_mib_per_s, double after_mib_per_s) {
    v1::RunReport report = WriteAndRead(criterion);  // 900 MiB/s
    v1::RateChange& change = *report.mutable_phases(0)->add_changes();
    change.set_before_per_s(before_mib_per_s * kMiB);
    change.set_after_per_s(after_mib_per_s * kMiB);
    return Verdict(std::move(report));
  };
  CHECK(with_levels("write>=850MiB/s", 1000, 800).problem() == "its rate changed, and the last level is beyond the limit");
  CHECK_FALSE(with_levels("write>=850MiB/s", 1000, 800).met());
  CHECK(with_levels("write>=800MiB/s", 1000, 800).met());
  CHECK(with_levels("write>=850MiB/s", 800, 1000).met());
  const v1::CriterionReport missed = with_levels("write>=901MiB/s", 800, 1000);  // the mean misses, whatever comes
  CHECK_FALSE(missed.met());
  CHECK(missed.problem().empty());
  CHECK(with_levels("write:p50<=100us", 1000, 800).met());
}

TEST_CASE("a percentile with too few ops beyond it decides nothing") {
  CHECK(Verdict(WriteAndRead("write:p50<=100us")).met());
  const v1::CriterionReport p99 = Verdict(WriteAndRead("write:p99<=10ms"));
  CHECK_FALSE(p99.met());
  CHECK(p99.problem() == "fewer than 100 ops lie beyond that percentile: it takes 10,000 of them, and there were 5,000");
  CHECK(p99.measured() == 2000);
  CHECK(p99.unit() == "us");
}

TEST_CASE("a percentile with too few ops beyond it misses its limit for sure if one below it does") {
  const v1::CriterionReport missed = Verdict(WriteAndRead("write:p99<=90us"));  // p50 is 100 us, and known
  CHECK_FALSE(missed.met());
  CHECK(missed.problem().empty());
  CHECK(missed.measured() == 2000);
  CHECK_FALSE(Verdict(WriteAndRead("write:p99<=100us")).problem().empty());
  CHECK_FALSE(Verdict(WriteAndRead("write:p99>=90us")).problem().empty());
  v1::RunReport all = WriteAndRead("write:p99<=90us");
  all.mutable_phases(0)->mutable_latency_us()->set_min(91);
  all.mutable_phases(0)->mutable_latency_us()->add_unsure("p50");
  all.mutable_phases(0)->mutable_latency_us()->set_count(10);
  CHECK(Verdict(all).problem().empty());
  all.mutable_phases(0)->mutable_latency_us()->set_count(9);
  CHECK_FALSE(Verdict(all).problem().empty());
  v1::RunReport unknown = WriteAndRead("write:p99<=90us");
  unknown.mutable_phases(0)->mutable_latency_us()->add_unsure("p50");
  CHECK_FALSE(Verdict(unknown).problem().empty());
}

TEST_CASE("marks=none counts each kind of mark, whatever it means") {
  CHECK(Verdict(WriteAndRead("*:marks=none")).met());
  v1::RunReport report = WriteAndRead("*:marks=none");
  for (const char* const code : {"cached", "cached", "network_bound"})
    report.mutable_phases(1)->add_marks()->set_code(code);
  const v1::CriterionReport verdict = Verdict(report);
  CHECK_FALSE(verdict.met());
  CHECK(verdict.measured() == 2);
  CHECK(verdict.phase() == "read");
  CHECK(verdict.problem().empty());
}

TEST_CASE("a criterion that fits no phase, as in a plan that nobody checked, is undecided") {
  v1::RunReport report = WriteAndRead("read>=1MiB/s");
  v1::Phase& mixed = *report.mutable_run()->mutable_plan()->mutable_phases(1);
  mixed.set_name("night");
  mixed.add_assignments()->mutable_operation()->set_name("stat");
  const v1::CriterionReport verdict = Verdict(report);
  CHECK_FALSE(verdict.met());
  CHECK(verdict.problem() == "it applies to no phase of the run");
  CHECK(std::isnan(verdict.measured()));
}

TEST_CASE("a criterion of a newer version is undecided, and a run without criteria has no verdict") {
  CHECK_FALSE(Verdict(WriteAndRead("write:beauty>=3")).problem().empty());
  CHECK_FALSE(Verdict(WriteAndRead("write:beauty>=3")).met());
  v1::RunReport report = WriteAndRead("write>=1MiB/s");
  report.mutable_run()->mutable_plan()->clear_criteria();
  UpdateCriteria(report);
  CHECK(report.criteria().empty());
}

}  // namespace
}  // namespace iobench

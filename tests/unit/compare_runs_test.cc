#include "coordinator/analysis/compare/compare_runs.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/unit/compare_script.h"

namespace iobench {
namespace {

v1::CompareReport Compared(std::vector<RunScript> scripts, const CompareSettings& settings = {}) {
  std::vector<RunToCompare> runs;
  for (size_t i = 0; i < scripts.size(); ++i)
    runs.push_back(RunToCompareFrom("run" + std::to_string(i), scripts[i].report()));
  return CompareRuns(runs, settings);
}

bool Mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("of rounds until steady, those of the window are compared") {
  RunScript steady = RunScript().Repeats("write", {900, 500, 100, 101, 99, 100, 100});
  steady.report().mutable_steady()->set_rounds(7);
  steady.report().mutable_steady()->add_rows()->set_first_round(3);
  const v1::CompareReport report = Compared({steady, RunScript().Repeats("write", {100, 102, 98, 101, 99})});
  REQUIRE(report.phases_size() == 1);
  CHECK(report.phases(0).baseline().rate() == Approx(100));
  CHECK(report.phases(0).baseline().count() == 5);
}

TEST_CASE("repetitions that are clearly slower are worse, of noisy equal ones nothing is shown") {
  const v1::CompareReport report =
      Compared({RunScript().Repeats("write", {100, 102, 98, 101, 99}).Repeats("read", {50, 52, 48}),
                RunScript().Repeats("write", {90, 91, 89.5, 90.5, 92}).Repeats("read", {51, 49, 50})});
  REQUIRE(report.phases_size() == 2);
  const v1::PhaseComparison& write = report.phases(0);
  CHECK(write.baseline().rate() == Approx(100));
  CHECK(write.compared().rate() == Approx(90.6));
  CHECK(write.method() == "repetitions");
  CHECK(write.rate().ratio() == Approx(0.906));
  // Scatter and drift of both: sqrt(2.5 / 5 + 1.5^2 / 2) of 100, sqrt(0.925 / 5 + 1.75^2 / 2) of 90.6.
  const double error = std::hypot(std::sqrt(0.5 + 1.125) / 100, std::sqrt(0.185 + 1.53125) / 90.6);
  CHECK(std::log(write.rate().high() / 0.906) / error == Approx(2.31).epsilon(0.01));  // t of about 8
  CHECK(write.rate().adjusted_p() == Approx(2 * write.rate().p()));  // the smaller of two
  CHECK(write.rate().verdict() == "worse");
  CHECK(write.verdict() == "worse");
  CHECK(report.phases(1).rate().ratio() == Approx(1));
  CHECK(report.phases(1).rate().verdict() == "not shown");  // 4 % of scatter do not prove equality within 5 %
  CHECK(report.counts(0).worse() == 1);
  CHECK(report.counts(0).not_shown() == 1);
}

TEST_CASE("lower latency is better") {
  const v1::CompareReport report = Compared({RunScript().Repeats("write", {100, 101, 99, 100, 100.5}),
                                             RunScript().Repeats("write", {120, 121, 119, 120, 120.5})});
  CHECK(report.phases(0).rate().verdict() == "better");
  CHECK(report.phases(0).latency_p99().ratio() == Approx(100.0 / 120).epsilon(0.001));
  CHECK(report.phases(0).latency_p99().verdict() == "better");
}

TEST_CASE("runs that differ on purpose are paired by the names of their phases") {
  RunScript other = RunScript().Repeats("write", {50, 51, 49}).Repeats("read", {200, 201, 199});
  for (v1::PhaseReport& phase : *other.report().mutable_phases()) {
    phase.set_engine("uring");
    phase.set_record_bytes(4096);
    phase.set_lane_count(64);
  }
  other.Adds("stat", 100).set_metadata(true);
  RunScript baseline = RunScript().Repeats("write", {100, 101, 99}).Repeats("read", {100, 101, 99});
  baseline.Adds("stat", 100);  // of bytes there, of ops here: there is no ratio
  CHECK(Compared({baseline, other}).phases().empty());
  CHECK_FALSE(Compared({baseline, other}).paired_by_name());
  const v1::CompareReport report = Compared({baseline, other}, {.by_name = true});
  CHECK(report.paired_by_name());
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).phase().name() == "write");
  CHECK(report.phases(0).rate().ratio() == Approx(0.5));
  CHECK(report.phases(1).rate().ratio() == Approx(2));
  CHECK(report.unmatched_size() == 2);
}

TEST_CASE("an unsure percentile gives no verdict") {
  RunScript unsure = RunScript().Repeats("write", {120, 121, 119});
  unsure.report().mutable_phases(1)->mutable_latency_us()->add_unsure("p99");
  const v1::CompareReport report = Compared({RunScript().Repeats("write", {100, 101, 99}), unsure});
  CHECK(report.phases(0).rate().verdict() == "better");
  CHECK(report.phases(0).latency_p99().verdict() == "not shown");
  CHECK(report.phases(0).latency_p99().ratio() == Approx(100.0 / 120).epsilon(0.001));
}

TEST_CASE("what one pair alone would show may not stand among many") {
  // p of the first phase alone is below 5 %; nine others that show nothing raise it tenfold.
  const std::vector<double> before = {100, 101, 99.5, 100, 100.5}, after = {98.5, 99, 98, 99.5, 98};
  CHECK(Compared({RunScript().Repeats("write", before), RunScript().Repeats("write", after)})
            .phases(0)
            .rate()
            .verdict() == "worse");
  RunScript a = RunScript().Repeats("write", before), b = RunScript().Repeats("write", after);
  for (int i = 0; i < 9; ++i) {
    a.Repeats("other" + std::to_string(i), {10, 11, 9});
    b.Repeats("other" + std::to_string(i), {10, 9, 11});
  }
  const v1::CompareReport report = Compared({a, b});
  CHECK(report.phases(0).rate().p() < 0.05);
  CHECK(report.phases(0).rate().high() < 1);
  CHECK(report.phases(0).rate().adjusted_p() == Approx(10 * report.phases(0).rate().p()));
  CHECK(report.phases(0).rate().verdict() != "worse");
}

TEST_CASE("single measurements are told apart by their slices") {
  RunScript a, b;
  a.AddsSlices("write", Alternating(40, 100));
  b.AddsSlices("write", Alternating(40, 90));
  const v1::CompareReport report = Compared({a, b});
  CHECK(report.phases(0).method() == "slices");
  CHECK(report.phases(0).rate().ratio() == Approx(0.9));
  CHECK(report.phases(0).rate().verdict() == "worse");
  CHECK(report.phases(0).rate().high() < 0.95);
}

TEST_CASE("slices outside the headline's window do not count") {
  RunScript a, b;
  std::vector<double> tail = Alternating(40, 100);
  tail.insert(tail.end(), 20, 1);  // stragglers after the stonewall
  a.AddsSlices("write", Alternating(40, 100));
  v1::PhaseReport& phase = b.AddsSlices("write", tail);
  phase.mutable_stonewall()->set_at_s(40);
  phase.mutable_headline()->set_bytes_per_s(100);
  const v1::CompareReport report = Compared({a, b});
  CHECK(report.phases(0).rate().verdict() == "equal");
  CHECK(report.phases(0).rate().high() < 1.02);
}

TEST_CASE("it cannot be told from too little, and the reason is given") {
  const auto why = [](RunScript a, RunScript b) {
    const v1::CompareReport report = Compared({std::move(a), std::move(b)});
    CHECK(report.phases(0).rate().verdict() == "not shown");
    CHECK(report.counts(0).not_shown() == 1);
    return report.phases(0).rate().why();
  };
  CHECK(Mentions(why(RunScript().Repeats("write", {1, 2}), RunScript().Repeats("write", {1, 2, 3})),
                 "complete repetitions: 2 and 3"));
  CHECK(Mentions(why(RunScript().Repeats("write", {1}), RunScript().Repeats("write", {2})), "too short"));
  RunScript few, flushed, other;
  few.AddsSlices("write", Alternating(19, 100));
  other.AddsSlices("write", Alternating(40, 100));
  CHECK(Mentions(why(few, other), "baseline: only 19 time slices; 20 are needed"));
  v1::PhaseReport& phase = flushed.AddsSlices("write", Alternating(40, 100));
  phase.mutable_headline()->set_region("ops+fsync");
  phase.mutable_regions_max_s()->set_fsync(10);
  CHECK(Mentions(why(other, flushed), "other run: the flush took 25 % of the measured time"));
  RunScript partial = RunScript().Repeats("write", {5});
  partial.report().mutable_phases(0)->set_not_whole("1 lane sat out");
  CHECK(Mentions(why(other, partial), "other run: no complete measurement"));
}

TEST_CASE("partial and interrupted repetitions do not count, marks do") {
  RunScript a = RunScript().Repeats("write", {100, 101, 99, 1, 2});
  a.report().mutable_phases(3)->set_not_whole("1 lane failed");
  a.report().mutable_phases(3)->add_marks()->set_code("partial");
  a.report().mutable_phases(4)->set_not_whole("interrupted");
  a.report().mutable_phases(0)->add_marks()->set_code("cached");
  const v1::CompareReport report = Compared({a, RunScript().Repeats("write", {100, 101, 99})});
  CHECK(report.phases(0).baseline().count() == 3);
  CHECK(report.phases(0).baseline().left_out_count() == 2);
  CHECK(report.phases(0).baseline().marks_size() == 2);
  CHECK(report.phases(0).rate().ratio() == Approx(1));
}

TEST_CASE("phases that exist in one run only are listed, equal ones are matched by their occurrence") {
  RunScript a, b;
  a.Adds("write", 10);
  a.Adds("read", 20);
  a.Adds("read", 30);
  b.Adds("read", 21);
  b.Adds("read", 31);
  b.Adds("stat", 5).set_metadata(true);
  const v1::CompareReport report = Compared({a, b});
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).rate().ratio() == Approx(21.0 / 20));
  CHECK(report.phases(1).rate().ratio() == Approx(31.0 / 30));
  CHECK(report.phases(1).phase().occurrence() == 2);
  REQUIRE(report.unmatched_size() == 2);
  CHECK(report.unmatched(0).phase().name() == "write");
  CHECK(report.unmatched(0).only_in_baseline());
  CHECK(report.unmatched(1).phase().name() == "stat");
  CHECK(!report.unmatched(1).only_in_baseline());
}

TEST_CASE("other sizes, records, lanes or engines are other phases") {
  for (const auto change : {+[](v1::PhaseReport& phase) { phase.set_record_bytes(4096); },
                            +[](v1::PhaseReport& phase) { phase.set_bytes_per_lane(4096); },
                            +[](v1::PhaseReport& phase) { phase.set_lane_count(3); },
                            +[](v1::PhaseReport& phase) { phase.set_engine("mmap"); },
                            +[](v1::PhaseReport& phase) { phase.set_target("/mnt/b"); }}) {
    RunScript a, b;
    a.Adds("write", 10);
    change(b.Adds("write", 10));
    CHECK(Compared({a, b}).phases_size() == 0);
  }
}

// One phase, whose ops draw 4 KiB with this share and 64 KiB with the rest.
RunScript WithShares(double percent_4k) {
  RunScript script;
  script.Adds("write", 10);
  v1::Operation& operation = *script.report().mutable_run()->mutable_plan()->add_phases()->add_assignments()->mutable_operation();
  operation.set_name("write");
  operation.set_record_bytes(65536);
  for (const auto& [bytes, percent] : {std::pair(4096, percent_4k), std::pair(65536, 100 - percent_4k)}) {
    v1::RecordShare& share = *operation.add_records();
    share.set_record_bytes(static_cast<uint64_t>(bytes));
    share.set_percent(percent);
  }
  return script;
}

TEST_CASE("other shares of the same record sizes are other phases, too") {
  CHECK(Compared({WithShares(60), WithShares(60)}).phases_size() == 1);
  const v1::CompareReport report = Compared({WithShares(60), WithShares(30)});
  CHECK(report.phases().empty());
  REQUIRE(report.unmatched_size() == 2);
  CHECK(report.unmatched(0).phase().record_shares() == "4k:60,64k:40");
  CHECK(report.unmatched(1).phase().record_shares() == "4k:30,64k:70");
  RunScript one_size;
  one_size.Adds("write", 10);
  CHECK(Compared({WithShares(60), one_size}).phases().empty());
  CHECK(Compared({WithShares(60), WithShares(30)}, {.by_name = true}).phases_size() == 1);
}

TEST_CASE("the gate fails only where the whole interval is below the limit") {
  const RunScript baseline = RunScript().Repeats("write", {100, 102, 98, 101, 99});
  const RunScript slower = RunScript().Repeats("write", {90, 91, 89.5, 90.5, 92});
  const v1::RatioEstimate found = Compared({baseline, slower}).phases(0).rate();
  const auto verdict = [&](double limit) {
    const v1::CompareReport report = Compared({baseline, slower}, {.level = 0.95, .fail_under = limit});
    CHECK(report.gate().below() + report.gate().not_below() + report.gate().inconclusive() == 1);
    return report.phases(0).limit_verdict();
  };
  // p99 is one test more, so that the limit must be a little beyond the interval.
  CHECK(verdict(found.high() + 0.02) == "below");
  CHECK(verdict(found.high() - 0.001) == "inconclusive");
  CHECK(verdict(found.low() + 0.001) == "inconclusive");
  CHECK(verdict(found.low() - 0.001) == "not below");
  const v1::CompareReport unknown =
      Compared({baseline, RunScript().Repeats("write", {1, 2})}, {.level = 0.95, .fail_under = 0.95});
  CHECK(unknown.gate().inconclusive() == 1);
  CHECK(!Compared({baseline, slower}).has_gate());
}

// Equal rates, but some latencies are longer.
TEST_CASE("p99 counts for the verdict and for the gate") {
  RunScript a = RunScript().Repeats("write", {100, 101, 99, 100, 100.5}), b = a;
  for (int i = 0; i < 5; ++i) {
    b.report().mutable_phases(i)->mutable_latency_us()->set_p99(3 * a.report().phases(i).latency_us().p99());
  }
  const v1::CompareReport report = Compared({a, b}, {.level = 0.95, .fail_under = 0.9});
  CHECK(report.phases(0).rate().verdict() == "equal");
  CHECK(report.phases(0).latency_p99().verdict() == "worse");
  CHECK(report.phases(0).verdict() == "worse");
  CHECK(report.counts(0).worse() == 1);
  CHECK(report.phases(0).limit_verdict() == "below");
  CHECK(Compared({b, a}).phases(0).verdict() == "better");
  CHECK(Compared({a, a}).phases(0).verdict() == "equal");
}

TEST_CASE("equal is what lies within the margin that is stated") {
  const RunScript a = RunScript().Repeats("write", {100, 102, 98, 101, 99}),
                  b = RunScript().Repeats("write", {100.5, 101, 99, 101, 98.5});
  CHECK(Compared({a, b}).phases(0).verdict() == "equal");
  const v1::CompareReport strict = Compared({a, b}, {.level = 0.95, .margin = 0.01, .fail_under = {}});
  CHECK(strict.phases(0).verdict() == "not shown");
  CHECK(strict.margin_percent() == Approx(1));
}

TEST_CASE("a higher level takes more to be convinced") {
  const RunScript a = RunScript().Repeats("write", {100, 102, 98, 101, 99}),
                  b = RunScript().Repeats("write", {94, 95, 93, 96, 93.5});
  CHECK(Compared({a, b}, {.level = 0.9, .fail_under = {}}).phases(0).rate().verdict() == "worse");
  const v1::CompareReport strict = Compared({a, b}, {.level = 0.999, .fail_under = {}});
  CHECK(strict.phases(0).rate().verdict() == "not shown");
  CHECK(strict.phases(0).rate().high() > 1);
}

TEST_CASE("a sweep becomes a map with the geometric mean of its cells") {
  RunScript a, b;
  for (const uint64_t record : {4096u, 65536u}) {
    for (const uint64_t size : {1u << 20, 4u << 20}) {
      for (const auto& [script, factor] : {std::pair{&a, 1.0}, std::pair{&b, record == 4096 ? 2.0 : 0.5}}) {
        for (uint32_t repetition = 0; repetition < 3; ++repetition) {
          v1::PhaseReport& phase = script->Adds("write", factor * (100 + repetition % 2), repetition);
          phase.set_record_bytes(record);
          phase.set_bytes_per_lane(size);
        }
      }
    }
  }
  const v1::CompareReport report = Compared({a, b});
  REQUIRE(report.maps_size() == 1);
  const v1::RatioMap& map = report.maps(0);
  CHECK(map.sizes_bytes_size() == 2);
  CHECK(map.records_bytes_size() == 2);
  REQUIRE(map.cells_size() == 4);
  CHECK(map.cells(0).ratio() == Approx(2));
  CHECK(map.cells(0).verdict() == "better");
  CHECK(map.cells(3).ratio() == Approx(0.5));
  CHECK(map.geometric_mean().ratio() == Approx(1));
  CHECK(map.geometric_mean().verdict() == "equal");
}

TEST_CASE("of three runs, each is compared with the first, and all tests are one family") {
  const v1::CompareReport report =
      Compared({RunScript().Repeats("write", {100, 101, 99}), RunScript().Repeats("write", {90, 91, 89}),
                RunScript().Repeats("write", {110, 111, 109})});
  REQUIRE(report.phases_size() == 2);
  CHECK(report.phases(0).run() == 1);
  CHECK(report.phases(1).run() == 2);
  CHECK(report.phases(1).rate().ratio() == Approx(1.1));
  CHECK(report.counts(0).worse() == 1);
  CHECK(report.counts(1).better() == 1);
  CHECK(report.phases(0).rate().adjusted_p() > report.phases(0).rate().p());
}

TEST_CASE("a single run lists its repetitions against their median, and names an outlier") {
  const v1::CompareReport report = Compared({RunScript().Repeats("write", {100, 101, 99, 102, 50})});
  CHECK(report.phases_size() == 0);
  REQUIRE(report.repetitions_size() == 1);
  const v1::RepetitionSeries& list = report.repetitions(0);
  CHECK(list.figures().median() == Approx(100));
  CHECK(list.figures().level_percent() == Approx(93.75));
  REQUIRE(list.repetitions_size() == 5);
  CHECK(list.repetitions(4).of_median() == Approx(0.5));
  CHECK(list.repetitions(4).outlier());   // 0.6745 x 50 / 1 = 34
  CHECK(!list.repetitions(3).outlier());  // 0.6745 x 2 / 1 = 1.3
}

}  // namespace
}  // namespace iobench

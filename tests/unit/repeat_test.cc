#include "coordinator/analysis/across/repeat.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "coordinator/analysis/summarize.h"

namespace iobench {
namespace {

v1::PhaseReport PhaseWith(const std::string& name, double bytes_per_s) {
  v1::PhaseReport phase;
  phase.set_name(name);
  phase.mutable_headline()->set_bytes_per_s(bytes_per_s);
  return phase;
}

TEST_CASE("five repetitions give smallest to largest at 93.75 %") {
  const v1::RepetitionReport report = RepetitionsOf(std::vector<double>{50, 10, 40, 20, 30});
  CHECK(report.count() == 5);
  CHECK(report.median() == 30);
  CHECK(report.low() == 10);
  CHECK(report.high() == 50);
  CHECK(report.level_percent() == Approx(93.75));
  CHECK(report.min() == 10);
  CHECK(report.max() == 50);
  CHECK(report.mean() == Approx(30));
  CHECK(report.stddev() == Approx(std::sqrt(250.0)));  // (400 + 100 + 0 + 100 + 400) / 4
}

TEST_CASE("the tightest interval with at least 95 % is chosen where there are enough repetitions") {
  std::vector<double> values(6);
  std::iota(values.begin(), values.end(), 1.0);
  CHECK(RepetitionsOf(values).low() == 1);
  CHECK(RepetitionsOf(values).level_percent() == Approx(96.875));  // 1 - 2/64

  values.resize(10);
  std::iota(values.begin(), values.end(), 1.0);
  const v1::RepetitionReport ten = RepetitionsOf(values);
  CHECK(ten.median() == Approx(5.5));
  CHECK(ten.low() == 2);  // 1 - 2 (1 + 10) / 1024; the third has 89 %
  CHECK(ten.high() == 9);
  CHECK(ten.level_percent() == Approx(100 * (1 - 22.0 / 1024)));
}

TEST_CASE("one repetition has no interval to speak of, two have half") {
  const v1::RepetitionReport one = RepetitionsOf(std::vector<double>{7});
  CHECK(one.median() == 7);
  CHECK(one.low() == 7);
  CHECK(one.level_percent() == Approx(0).margin(1e-9));
  CHECK(std::isnan(one.stddev()));
  const v1::RepetitionReport two = RepetitionsOf(std::vector<double>{7, 9});
  CHECK(two.median() == 8);
  CHECK(two.level_percent() == Approx(50));
}

TEST_CASE("thousands of repetitions do not underflow") {
  std::vector<double> values(4000);
  std::iota(values.begin(), values.end(), 0.0);
  const v1::RepetitionReport report = RepetitionsOf(values);
  CHECK(report.level_percent() >= 95);
  CHECK(report.level_percent() < 95.3);
  // Normal approximation: 2000 -+ 1.96 * sqrt(4000) / 2 = 62 ranks either side.
  CHECK(report.low() == Approx(1937).margin(2));
  CHECK(report.high() == Approx(2062).margin(2));
}

TEST_CASE("no value gives no figure") {
  const v1::RepetitionReport report = RepetitionsOf({});
  CHECK(report.count() == 0);
  CHECK(std::isnan(report.median()));
  CHECK(std::isnan(report.high()));
}

TEST_CASE("repetitions are put together by the phase's name, in the order of the plan") {
  const std::vector<v1::PhaseReport> phases = {PhaseWith("write", 10), PhaseWith("read", 100),
                                               PhaseWith("write", 30), PhaseWith("read", 300)};
  const std::vector<v1::RepetitionReport> reports = SummarizeRepetitions(phases);
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].name() == "write");
  CHECK(reports[0].median() == 20);
  CHECK(reports[1].name() == "read");
  CHECK(reports[1].mean() == 200);
}

TEST_CASE("a run without repetitions has no table of them") {
  CHECK(SummarizeRepetitions(std::vector<v1::PhaseReport>{PhaseWith("write", 10), PhaseWith("read", 100)})
            .empty());
}

TEST_CASE("a repetition that lost workers or lanes is left out of the median, and counted") {
  std::vector<v1::PhaseReport> phases = {PhaseWith("read", 10), PhaseWith("read", 20), PhaseWith("read", 30),
                                         PhaseWith("read", 1)};
  phases[3].add_marks()->set_code("too_short");
  CHECK(SummarizeRepetitions(phases)[0].count() == 4);
  phases[3].set_not_whole("1 lane failed");
  const std::vector<v1::RepetitionReport> reports = SummarizeRepetitions(phases);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].count() == 3);
  CHECK(reports[0].median() == 20);
  CHECK(reports[0].min() == 10);
  CHECK(reports[0].partial_count() == 1);
}

TEST_CASE("where all repetitions are partial there is no median") {
  std::vector<v1::PhaseReport> phases = {PhaseWith("read", 10), PhaseWith("read", 20)};
  for (v1::PhaseReport& phase : phases) phase.set_not_whole("1 worker lost");
  const std::vector<v1::RepetitionReport> reports = SummarizeRepetitions(phases);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].partial_count() == 2);
  CHECK(std::isnan(reports[0].median()));
}

TEST_CASE("a phase without a figure, or cut off by an interrupt, is no repetition") {
  std::vector<v1::PhaseReport> phases = {PhaseWith("read", 10), PhaseWith("read", 20), PhaseWith("read", 999),
                                         PhaseWith("read", std::numeric_limits<double>::quiet_NaN())};
  phases[2].set_not_whole("interrupted");
  const std::vector<v1::RepetitionReport> reports = SummarizeRepetitions(phases);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].count() == 2);
  CHECK(reports[0].max() == 20);
}

}  // namespace
}  // namespace iobench

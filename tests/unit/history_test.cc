#include "coordinator/analysis/compare/history.h"

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "catch2/catch.hpp"
#include "tests/unit/compare_script.h"

namespace iobench {
namespace {

// One run a day from 2026-03-01, each with the given rate of its only phase.
std::vector<RunToCompare> Days(const std::vector<double>& rates) {
  std::vector<RunToCompare> runs;
  for (size_t i = 0; i < rates.size(); ++i) {
    RunScript script(absl::StrFormat("2026-03-%02dT10:15:00.000Z", i + 1));
    script.Adds("write", rates[i]);
    runs.push_back(RunToCompareFrom("day" + std::to_string(i + 1), script.report()));
  }
  return runs;
}

TEST_CASE("runs are sorted by their start, whatever their order") {
  std::vector<RunToCompare> runs = Days({10, 20, 30});
  std::swap(runs[0], runs[2]);
  const v1::HistoryReport report = HistoryOf(std::move(runs), {});
  CHECK(report.runs(0).name() == "day1");
  CHECK(report.runs(2).name() == "day3");
  REQUIRE(report.phases_size() == 1);
  const v1::PhaseHistory& phase = report.phases(0);
  CHECK(phase.points(2).days() == Approx(2));
  CHECK(phase.points(2).figure().rate() == Approx(30));
  CHECK(phase.points(2).of_median() == Approx(1.5));
  CHECK(phase.trend().verdict() == "not shown");
  CHECK(phase.trend().why() == "3 runs; at least 6 are needed");
  CHECK(phase.changes_why() == "3 runs; at least 8 are needed");
}

TEST_CASE("a steady loss of one percent a day is a falling trend, over the time that was observed") {
  std::vector<double> rates;
  for (int i = 0; i < 7; ++i) rates.push_back(103 - i);
  const v1::Trend trend = HistoryOf(Days(rates), {}).phases(0).trend();
  CHECK(trend.percent() == Approx(-6));  // the median is 100
  CHECK(trend.observed_days() == Approx(6));
  CHECK(trend.low() == Approx(-6));
  CHECK(trend.high() == Approx(-6));
  CHECK(trend.p() < 0.05);
  CHECK(trend.verdict() == "falling");
  CHECK(HistoryOf(Days(std::vector<double>(7, 100.0)), {}).phases(0).trend().verdict() == "steady");
}

TEST_CASE("runs within seconds have a trend over these seconds, not a thousandfold one of a day") {
  std::vector<RunToCompare> runs;
  for (int i = 0; i < 8; ++i) {
    RunScript script(absl::StrFormat("2026-03-01T10:15:%02d.000Z", i));
    script.Adds("write", 100 + 2 * i);
    runs.push_back(RunToCompareFrom("run" + std::to_string(i), script.report()));
  }
  const v1::Trend trend = HistoryOf(std::move(runs), {}).phases(0).trend();
  CHECK(trend.observed_days() == Approx(7.0 / 86400));
  CHECK(trend.percent() == Approx(100 * 14 / 107.0));
}

TEST_CASE("a step is a change between two levels, and the gate looks at the newest") {
  const std::vector<double> rates = {100, 103, 101, 102, 99, 104, 80, 83, 81, 82, 79, 84};
  const v1::HistoryReport report = HistoryOf(Days(rates), {.level = 0.95, .fail_under = 0.9});
  const v1::PhaseHistory& phase = report.phases(0);
  REQUIRE(phase.changes_size() == 1);
  CHECK(phase.changes(0).run() == 6);
  CHECK(phase.changes(0).median_before() == Approx(101.5));
  CHECK(phase.changes(0).median_after() == Approx(81.5));
  CHECK(phase.changes(0).ratio() == Approx(81.5 / 101.5));
  CHECK(phase.limit_verdict() == "below");
  CHECK(report.gate().below() == 1);
  CHECK(HistoryOf(Days(rates), {.level = 0.95, .fail_under = 0.8}).phases(0).limit_verdict() == "inconclusive");
  CHECK(HistoryOf(Days(rates), {.level = 0.95, .fail_under = 0.5}).phases(0).limit_verdict() == "not below");
}

TEST_CASE("runs whose phase has no figure are shown but do not count") {
  std::vector<RunToCompare> runs = Days({10, 20, 30});
  runs[1].phases[0].measurements[0].counts = false;
  const v1::PhaseHistory phase = HistoryOf(std::move(runs), {}).phases(0);
  CHECK(phase.points_size() == 3);
  CHECK(phase.points(1).figure().count() == 0);
  CHECK(phase.median() == Approx(20));
}

TEST_CASE("a phase that only one run has is no history") {
  std::vector<RunToCompare> runs = Days({10, 20});
  RunScript other("2026-04-01T00:00:00Z");
  other.Adds("read", 5);
  runs.push_back(RunToCompareFrom("other", other.report()));
  const v1::HistoryReport report = HistoryOf(std::move(runs), {});
  REQUIRE(report.phases_size() == 1);
  CHECK(report.phases(0).phase().name() == "write");
}

}  // namespace
}  // namespace iobench

// criteria.junit.xml: what fails, and with which words.
#include "coordinator/report/junit/criteria_junit.h"

#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

v1::RunReport RunOf(int exit_code) {
  v1::RunReport report;
  report.mutable_run()->set_id("R1");
  report.mutable_run()->set_label("nightly <1>");
  report.mutable_run()->set_started_at("2026-11-22T07:01:53.110Z");
  report.mutable_run()->set_exit_code(exit_code);
  return report;
}

std::string JunitOf(const v1::RunReport& report) {
  std::ostringstream out;
  REQUIRE(WriteCriteriaJunit(report, out).ok());
  return out.str();
}

v1::CriterionReport& AddCriterion(v1::RunReport& report, const char* text, double measured, bool met) {
  v1::CriterionReport& criterion = *report.add_criteria();
  criterion.set_criterion(text);
  criterion.set_phase("write");
  criterion.set_measured(measured);
  criterion.set_limit(900);
  criterion.set_unit("ops/s");
  criterion.set_met(met);
  return criterion;
}

TEST_CASE("criteria are test cases; those that are not met or undecided fail, and the run does not fail by them") {
  v1::RunReport report = RunOf(4);
  AddCriterion(report, "write>=900ops/s", 912, true);
  AddCriterion(report, "read>=900ops/s", 812, false);
  AddCriterion(report, "stat>=900ops/s", 950, false).set_problem("the phase was interrupted");
  const std::string text = JunitOf(report);
  CHECK(absl::StrContains(text, R"(<testsuite name="cluster-iobench nightly &lt;1&gt;" tests="4" failures="2" errors="0")"));
  CHECK(absl::StrContains(text, R"(<testcase name="run" classname="run" time="0">
      <system-out>ended as planned</system-out>)"));
  CHECK(absl::StrContains(text, R"(<testcase name="write&gt;=900ops/s" classname="criteria" time="0">
      <system-out>met: 912 ops/s in write</system-out>)"));
  CHECK(absl::StrContains(text, R"(<failure type="not met" message="not met: 812 ops/s in write">)"));
  CHECK(absl::StrContains(text, R"(<failure type="undecided" message="undecided: 950 ops/s in write; the phase was interrupted">)"));
}

TEST_CASE("a run that did not end as planned fails, also without criteria") {
  CHECK(absl::StrContains(JunitOf(RunOf(0)), "failures=\"0\""));
  for (const int exit_code : {2, 3, 130}) {
    const std::string text = JunitOf(RunOf(exit_code));
    INFO(text);
    CHECK(absl::StrContains(text, "tests=\"1\" failures=\"1\""));
    CHECK(absl::StrContains(text, absl::StrCat("ended with exit code ", exit_code)));
  }
  v1::RunReport cut_off = RunOf(0);
  cut_off.mutable_run()->clear_exit_code();
  CHECK(absl::StrContains(JunitOf(cut_off), "the run has not ended"));
  v1::RunReport damaged = RunOf(0);
  damaged.mutable_run()->add_missing_phases()->set_problem("missing");
  CHECK(absl::StrContains(JunitOf(damaged), "1 of its phases are missing or damaged"));
}

}  // namespace
}  // namespace iobench

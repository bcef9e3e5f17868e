#include "coordinator/analysis/score.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

namespace iobench {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Two bandwidth phases, a phase that does not count, two metadata phases.
v1::RunReport FivePhases() {
  v1::RunReport report;
  for (const v1::Score kind :
       {v1::SCORE_BANDWIDTH, v1::SCORE_NONE, v1::SCORE_BANDWIDTH, v1::SCORE_METADATA, v1::SCORE_METADATA}) {
    report.mutable_run()->mutable_plan()->add_phases()->set_score(kind);
    report.add_phases()->set_index(static_cast<uint32_t>(report.phases_size()) - 1);
  }
  report.mutable_phases(0)->mutable_headline()->set_bytes_per_s(2 * kGiB);
  report.mutable_phases(1)->mutable_headline()->set_bytes_per_s(1000 * kGiB);
  report.mutable_phases(2)->mutable_headline()->set_bytes_per_s(8 * kGiB);
  report.mutable_phases(3)->mutable_headline()->set_ops_per_s(1e3);
  report.mutable_phases(4)->mutable_headline()->set_ops_per_s(81e3);
  return report;
}

void LastsFor(double seconds, v1::RunReport& report) {
  for (v1::PhaseReport& phase : *report.mutable_phases()) phase.set_duration_s(seconds);
}

v1::Operation& OperationOf(int phase, v1::RunReport& report) {
  return *report.mutable_run()->mutable_plan()->mutable_phases(phase)->add_assignments()->mutable_operation();
}

TEST_CASE("a score is the root of both geometric means' product") {
  const auto score = ScoreOf(FivePhases());
  REQUIRE(score.has_value());
  CHECK(score->bandwidth_gib_per_s() == Approx(4));  // sqrt(2 x 8)
  CHECK(score->metadata_kops_per_s() == Approx(9));  // sqrt(1 x 81)
  CHECK(score->value() == Approx(6));                // sqrt(4 x 9)
  CHECK(score->valid());
}

TEST_CASE("a score is a number of the report, and noted once, with its formula") {
  v1::RunReport report = FivePhases();
  UpdateScore(report);
  UpdateScore(report);
  CHECK(report.score().value() == Approx(6));
  REQUIRE(report.notes_size() == 1);
  CHECK_THAT(report.notes(0), Catch::Contains("score 6 = sqrt(4 GiB/s x 9 kIOPS)"));
}

TEST_CASE("phases that write or create must last as long as the IO500's, others need not") {
  v1::RunReport report = FivePhases();
  OperationOf(0, report).set_name("write");
  OperationOf(2, report).set_name("read");
  OperationOf(3, report).set_name("create");
  OperationOf(4, report).set_name("stat");
  LastsFor(kMinScoredWriteSeconds, report);
  CHECK(ScoreOf(report)->valid());
  LastsFor(0.01, report);
  for (int i = 0; i < 5; ++i)
    report.mutable_run()->mutable_plan()->mutable_phases(i)->set_name("p" + std::to_string(i));
  UpdateScore(report);
  CHECK(report.score().value() == Approx(6));
  CHECK_FALSE(report.score().valid());
  REQUIRE(report.score().problems_size() == 1);
  CHECK_THAT(report.score().problems(0), Catch::Contains("shorter than the 300 s") &&
                                             Catch::Matchers::EndsWith(": p0 (10 ms), p3 (10 ms)"));
  CHECK_THAT(report.notes(0), Catch::Matchers::StartsWith("score 6 [INVALID] = ") &&
                                  Catch::Contains("; INVALID: shorter than"));
}

TEST_CASE("a phase that is missing does not shift the others: their numbers count") {
  v1::RunReport report = FivePhases();
  report.mutable_phases()->DeleteSubrange(1, 1);  // which has no score
  REQUIRE(ScoreOf(report).has_value());
  CHECK(ScoreOf(report)->value() == Approx(6));
  report = FivePhases();
  v1::PhaseReport* const again = report.add_phases();  // of the second repetition
  *again = report.phases(0);
  again->set_repetition(1);
  again->set_index(5);
  report.mutable_phases()->DeleteSubrange(0, 1);
  CHECK_FALSE(ScoreOf(report).has_value());
  report.mutable_run()->set_finished(true);
  CHECK(std::isnan(ScoreOf(report)->value()));
  CHECK_FALSE(ScoreOf(report)->valid());
}

TEST_CASE("the score of phases that are not whole, have no figure or found nothing is not valid") {
  const auto problem = [](const v1::RunReport& report) {
    const auto score = ScoreOf(report);
    REQUIRE(score.has_value());
    CHECK(score->valid() == score->problems().empty());
    return score->problems().empty() ? std::string() : score->problems(0);
  };
  v1::RunReport report = FivePhases();
  report.mutable_phases(1)->set_not_whole("interrupted");
  CHECK(problem(report).empty());  // that one does not count
  report.mutable_phases(2)->set_not_whole("2 lanes sat out");
  CHECK(problem(report) == ": 2 lanes sat out");
  report = FivePhases();
  report.mutable_phases(4)->set_found_items(1);
  CHECK(problem(report).empty());
  report.mutable_phases(4)->set_found_items(0);
  CHECK(problem(report) == " found nothing");
  report = FivePhases();
  report.mutable_phases(2)->mutable_headline()->set_bytes_per_s(0);
  CHECK(problem(report) == " has no figure");
  CHECK(std::isnan(ScoreOf(report)->value()));
}

TEST_CASE("there is no score while a phase is still to come, or where the plan asks for none") {
  v1::RunReport unfinished = FivePhases();
  unfinished.mutable_phases()->RemoveLast();
  CHECK_FALSE(ScoreOf(unfinished).has_value());
  v1::RunReport one_kind = FivePhases();
  for (const int phase : {3, 4}) one_kind.mutable_run()->mutable_plan()->mutable_phases(phase)->clear_score();
  CHECK_FALSE(ScoreOf(one_kind).has_value());
}

}  // namespace
}  // namespace iobench

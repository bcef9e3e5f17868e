#include "coordinator/analysis/score.h"

#include <catch2/catch.hpp>

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

TEST_CASE("a score is the root of both geometric means' product") {
  const auto score = ScoreOf(FivePhases());
  REQUIRE(score.has_value());
  CHECK(score->bandwidth_gib_per_s == Approx(4));  // sqrt(2 x 8)
  CHECK(score->metadata_kops_per_s == Approx(9));  // sqrt(1 x 81)
  CHECK(score->total == Approx(6));                // sqrt(4 x 9)
}

TEST_CASE("a score is noted once, with its formula") {
  v1::RunReport report = FivePhases();
  NoteScore(report);
  NoteScore(report);
  REQUIRE(report.notes_size() == 1);
  CHECK_THAT(report.notes(0), Catch::Contains("score 6 = sqrt(4 GiB/s x 9 kIOPS)"));
}

TEST_CASE("a phase that is missing does not shift the others: their numbers count") {
  v1::RunReport report = FivePhases();
  report.mutable_phases()->DeleteSubrange(1, 1);  // which has no score
  REQUIRE(ScoreOf(report).has_value());
  CHECK(ScoreOf(report)->total == Approx(6));
  report = FivePhases();
  v1::PhaseReport* const again = report.add_phases();  // of the second repetition
  *again = report.phases(0);
  again->set_repetition(1);
  again->set_index(5);
  report.mutable_phases()->DeleteSubrange(0, 1);
  CHECK_FALSE(ScoreOf(report).has_value());
}

TEST_CASE("a phase that lost workers or lanes gives no score") {
  v1::RunReport report = FivePhases();
  report.mutable_phases(2)->add_marks()->set_code("partial");
  CHECK_FALSE(ScoreOf(report).has_value());
}

TEST_CASE("there is no score where find found nothing") {
  v1::RunReport report = FivePhases();
  report.mutable_phases(4)->set_found_items(1);
  CHECK(ScoreOf(report).has_value());
  report.mutable_phases(4)->set_found_items(0);
  CHECK_FALSE(ScoreOf(report).has_value());
}

TEST_CASE(
    "there is no score while a phase is missing or cut short, has no figure, or the plan asks for none") {
  v1::RunReport unfinished = FivePhases();
  unfinished.mutable_phases()->RemoveLast();
  CHECK_FALSE(ScoreOf(unfinished).has_value());
  v1::RunReport interrupted = FivePhases();
  interrupted.mutable_phases(1)->set_interrupted(true);
  CHECK(ScoreOf(interrupted).has_value());  // that one does not count
  interrupted.mutable_phases(4)->set_interrupted(true);
  CHECK_FALSE(ScoreOf(interrupted).has_value());
  v1::RunReport failed = FivePhases();
  failed.mutable_phases(2)->mutable_headline()->set_bytes_per_s(0);
  CHECK_FALSE(ScoreOf(failed).has_value());
  v1::RunReport one_kind = FivePhases();
  for (const int phase : {3, 4}) one_kind.mutable_run()->mutable_plan()->mutable_phases(phase)->clear_score();
  CHECK_FALSE(ScoreOf(one_kind).has_value());
}

}  // namespace
}  // namespace iobench

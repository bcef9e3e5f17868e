#include "coordinator/analysis/verify_summary.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

using Catch::Matchers::Contains;

const v1::Mark* MarkOf(const v1::PhaseReport& report, const std::string& code) {
  for (const v1::Mark& mark : report.marks()) {
    if (mark.code() == code) return &mark;
  }
  return nullptr;
}

TEST_CASE("a phase that verified nothing says nothing of it") {
  PhaseScript script;
  script.Lane(0);
  REQUIRE_FALSE(script.Report().has_verify());
}

TEST_CASE("what lanes checked is added up, and the first ten mismatches are errors with their place") {
  PhaseScript script;
  script.Lane(0).Verifies(1000).Finds(v1::Mismatch::STALE, "stale", 7);
  script.Lane(1).Verifies(500).Finds(v1::Mismatch::WRONG_OFFSET, "wrong-offset", 20);
  script.Lane(2).Verifies(500);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.verify().sectors() == 2000);
  REQUIRE(report.verify().mismatched() == 27);
  REQUIRE(report.verify().counts().at("stale") == 7);
  REQUIRE(report.verify().counts().at("wrong-offset") == 20);
  REQUIRE(report.verify().first_size() == 10);
  REQUIRE(report.errors_size() == 10);
  const v1::ErrorReport& last = report.errors(9);
  REQUIRE(last.client() == "node1");
  REQUIRE(last.worker() == 1);
  REQUIRE(last.lane() == 1);
  REQUIRE(last.file() == "/mnt/test/file");
  REQUIRE(last.offset() == 1024);
  REQUIRE(last.message() ==
          "wrong-offset data in /mnt/test/file at offset 1024: expected generation 2, found generation 1 by "
          "lane 0");
  REQUIRE(report.lanes_failed() == 0);  // it read what it was told to
}

TEST_CASE("think time and bursts are left out of the lanes' own rates, and of nothing else") {
  PhaseScript script;
  script.Lane(0).Moves(10_GiB).EndsAt(10_s).Pauses(6_s);
  script.Lane(1).Moves(10_GiB).EndsAt(20_s).Pauses(10_s);
  const v1::PhaseReport report = script.Report();
  // Up to the stonewall at 10 s: lane 0 worked for 4 s of it, lane 1 for 5 s (half of its pauses) and had moved 5 GiB.
  CHECK(report.throughput_bytes_per_s().children() == Approx(10 * kGiB / 4 + 5 * kGiB / 5));
  CHECK(report.throughput_bytes_per_s().stonewalled() == Approx(15 * kGiB / 10));
  CHECK(report.throughput_bytes_per_s().full() == Approx(20 * kGiB / 20));
  CHECK(report.pause_s() == Approx(8));
  CHECK(report.between_s() == Approx(8));
  CHECK(MarkOf(report, "data_time") == nullptr);
}

TEST_CASE("where whole regions count, all pauses are left out, and the flush is not") {
  PhaseScript script("write");
  script.plan().set_stonewall(v1::STONEWALL_NONE);
  script.plan().mutable_region()->set_fsync(true);
  script.Lane(0).Writes().Moves(10_GiB).EndsAt(10_s).Fsyncs(2_s).Pauses(7_s);
  CHECK(script.Report().throughput_bytes_per_s().children() == Approx(10 * kGiB / 5));
}

TEST_CASE("a pace is that of ops over the intervals between them, as a mean over the lanes that have one") {
  PhaseScript script;
  script.operation().mutable_between()->set_ops_per_s(100);
  script.Lane(0).InOps(1001).EndsAt(10_s);
  script.Lane(1).InOps(901).EndsAt(10_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.asked_ops_per_s() == Approx(100));
  CHECK(report.paced_ops_per_s() == Approx(95));
  REQUIRE(MarkOf(report, "pace_missed") != nullptr);
  CHECK(MarkOf(report, "pace_missed")->value() == Approx(95));
  script.Lane(1).InOps(1001);
  CHECK(MarkOf(script.Report(), "pace_missed") == nullptr);
}

TEST_CASE("data that take more than 5 % of the lanes' time are marked") {
  PhaseScript script;
  script.Lane(0).EndsAt(10_s).WorksOnData(0.4_s);
  CHECK(MarkOf(script.Report(), "data_time") == nullptr);
  script.Lane(0).WorksOnData(2.5_s);
  const v1::PhaseReport report = script.Report();
  const v1::Mark* const mark = MarkOf(report, "data_time");
  REQUIRE(mark != nullptr);
  CHECK(mark->value() == Approx(25));
  CHECK_THAT(mark->text(), Contains("25 %"));
  CHECK(report.data_s() == Approx(2.5));
}

}  // namespace
}  // namespace iobench

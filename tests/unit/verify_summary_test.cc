#include "coordinator/analysis/marks/verify_summary.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

using Catch::Contains;

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

TEST_CASE("where pauses round to the whole of a lane's time, its own rate is that of its ops") {
  PhaseScript script;
  // 1000 ops of 1 us in 10 s; the pauses' clock says 10 s, and a little more.
  script.Lane(0).Moves(1000_MiB).InOps(1000).EndsAt(10_s).OpsTake(1e-6).Pauses(10.001_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.throughput_bytes_per_s().children() == Approx(1000 * kMiB / 1e-3).epsilon(0.01));
  CHECK(report.throughput_ops_per_s().children() == Approx(1e6).epsilon(0.01));
  CHECK(report.throughput_bytes_per_s().stonewalled() == Approx(100 * kMiB));
}

TEST_CASE("where nothing is known of a lane's own time, its own rate is none") {
  PhaseScript script;
  script.Lane(0).EndsAt(10_s).Pauses(10_s);
  script.Lane(1).EndsAt(10_s);
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->mutable_lanes(0)->clear_kinds();
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(std::isnan(report.throughput_bytes_per_s().children()));
  CHECK(std::isnan(report.lanes_bytes_per_s().max()));
  CHECK(report.stragglers().empty());
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
}

TEST_CASE("a pace is that of the ops' begins, and every lane is judged by itself") {
  PhaseScript script;
  script.operation().mutable_between()->set_ops_per_s(100);
  for (const uint32_t lane : {0, 1, 2}) script.Lane(lane).InOps(1001).EndsAt(10.001_s).OpsTake(0.001_s);
  CHECK(script.Report().paced_ops_per_s() == Approx(100));
  CHECK(MarkOf(script.Report(), "pace_missed") == nullptr);
  script.Lane(1).InOps(1201);  // faster than it was asked to: no excuse for the other
  script.Lane(2).InOps(801);
  const v1::PhaseReport report = script.Report();
  CHECK(report.asked_ops_per_s() == Approx(100));
  CHECK(report.paced_ops_per_s() == Approx(100));
  const v1::Mark* const mark = MarkOf(report, "pace_missed");
  REQUIRE(mark != nullptr);
  CHECK(mark->value() == Approx(80));
  CHECK_THAT(mark->text(), Contains("1 of 3 lanes") && Contains("worker 2 lane 2) reached"));
  CHECK(report.clients(0).workers(2).lanes(0).asked_ops_per_s() == Approx(100));
  CHECK(report.clients(0).workers(2).lanes(0).paced_ops_per_s() == Approx(80));
}

// 200 ops of a lane: the first one is due when it begins, each later one `lag_us` before it begins; service takes 1 ms.
void MakeOpen(v1::LaneResult& lane, uint64_t lag_us) {
  Histogram response, service, lag;
  for (int i = 0; i < 20'000; ++i) {
    lag.Add(lag_us * 1000);
    response.Add(lag_us * 1000 + 1'000'000);
    service.Add(1'000'000);
  }
  *lane.mutable_kinds(0)->mutable_latency() = response.ToProto();
  *lane.mutable_service() = service.ToProto();
  *lane.mutable_lag() = lag.ToProto();
}

TEST_CASE("an open loop reports what was due, done and missed, and response, service and lag") {
  PhaseScript script;
  script.operation().mutable_arrivals()->set_ops_per_s(4000);
  script.Lane(0).InOps(20'000).EndsAt(10_s);
  script.Lane(1).InOps(20'000).EndsAt(10_s);
  v1::PhaseRecord record = script.Record();
  MakeOpen(*record.mutable_workers(0)->mutable_lanes(0), 10);
  MakeOpen(*record.mutable_workers(1)->mutable_lanes(0), 30);
  v1::PhaseReport report = SummarizePhase(script.Run(), record);
  REQUIRE(report.has_open_loop());
  CHECK(report.open_loop().asked_ops_per_s() == 4000);
  CHECK(report.open_loop().due_ops() == 40'000);
  CHECK(report.open_loop().done_percent() == 100);
  CHECK(report.open_loop().response_us().mean() == Approx(1020));
  CHECK(report.open_loop().lag_us().mean() == Approx(20));
  CHECK(report.open_loop().gap_us() == Approx(500));  // two lanes, each with half of the rate
  CHECK(MarkOf(report, "generator_bound") == nullptr);

  CHECK(report.open_loop().service_us().mean() == Approx(1000));
  CHECK(report.latency_us().mean() == Approx(1020));  // the latency is the response
  CHECK(report.clients(0).latency_us().mean() == Approx(1020));
  CHECK(report.clients(0).workers(1).lanes(0).p50_us() == Approx(1030).epsilon(0.01));
  CHECK(report.by_kind().begin()->second.latency_us().mean() == Approx(1020));

  MakeOpen(*record.mutable_workers(1)->mutable_lanes(0), 100);  // 9 % of the response, though 20 % of the gap
  report = SummarizePhase(script.Run(), record);
  CHECK(MarkOf(report, "generator_bound") == nullptr);
  MakeOpen(*record.mutable_workers(1)->mutable_lanes(0), 600);  // 600 of 1600 us
  report = SummarizePhase(script.Run(), record);
  REQUIRE(MarkOf(report, "generator_bound") != nullptr);
  CHECK(MarkOf(report, "generator_bound")->value() == Approx(37.5).epsilon(0.02));

  record.mutable_workers(0)->set_missed_arrivals(10'000);
  report = SummarizePhase(script.Run(), record);
  CHECK(report.open_loop().due_ops() == 50'000);
  CHECK(report.open_loop().missed_ops() == 10'000);
  REQUIRE(MarkOf(report, "generator_bound") != nullptr);
  CHECK(MarkOf(report, "generator_bound")->value() == Approx(80));

  // A rate per lane is that of all lanes together in the report.
  script.operation().mutable_arrivals()->set_per_lane(true);
  script.operation().mutable_arrivals()->set_end_ops_per_s(8000);
  *record.mutable_phase() = script.Record().phase();
  report = SummarizePhase(script.Run(), record);
  CHECK(report.open_loop().asked_ops_per_s() == 8000);
  CHECK(report.open_loop().asked_end_ops_per_s() == 16'000);
  CHECK(report.open_loop().gap_us() == Approx(250));
}

TEST_CASE("each lane is held to the pace of its own assignment") {
  PhaseScript script;
  script.operation().mutable_between()->set_ops_per_s(1000);
  script.plan().mutable_assignments(0)->mutable_who()->add_workers(0);
  v1::Assignment& slower = *script.plan().add_assignments();
  slower = script.plan().assignments(0);
  slower.mutable_who()->set_workers(0, 1);
  slower.mutable_operation()->mutable_between()->set_ops_per_s(10);
  script.Lane(0).InOps(10001).EndsAt(10_s).OpsTake(1e-6);
  script.Lane(1).InOps(101).EndsAt(10_s).OpsTake(1e-6);
  CHECK(MarkOf(script.Report(), "pace_missed") == nullptr);
  script.Lane(1).InOps(51);
  REQUIRE(MarkOf(script.Report(), "pace_missed") != nullptr);
  CHECK(MarkOf(script.Report(), "pace_missed")->value() == Approx(50));
}

TEST_CASE("what a lane waits after its last op is not its pace, nor is one op in the time of many") {
  PhaseScript script;
  script.operation().mutable_between()->set_ops_per_s(1);
  script.plan().mutable_stop()->set_time_s(2.5);
  // Ops at 0, 1 and 2 s; the next one is not due at the end.
  script.Lane(0).InOps(3).EndsAt(2.5_s).LastOpEndsAt(2.001_s).OpsTake(0.001_s);
  CHECK(script.Report().paced_ops_per_s() == Approx(1));
  CHECK(MarkOf(script.Report(), "pace_missed") == nullptr);
  script.Lane(1).InOps(1).EndsAt(2.5_s).OpsTake(2.5_s);
  REQUIRE(MarkOf(script.Report(), "pace_missed") != nullptr);
  CHECK(MarkOf(script.Report(), "pace_missed")->value() == Approx(40));
}

TEST_CASE("data that take more than 10 % of the lanes' timed region are marked") {
  PhaseScript script;
  script.Lane(0).EndsAt(10_s).WorksOnData(0.9_s);
  CHECK(MarkOf(script.Report(), "data_time") == nullptr);
  script.Lane(0).WorksOnData(2.5_s);
  const v1::PhaseReport report = script.Report();
  const v1::Mark* const mark = MarkOf(report, "data_time");
  REQUIRE(mark != nullptr);
  CHECK(mark->value() == Approx(25));
  CHECK_THAT(mark->text(), Contains("25 %"));
  CHECK(report.data_s() == Approx(2.5));
  script.Lane(0).Fsyncs(15);  // of 10 + 15 s
  CHECK(MarkOf(script.Report(), "data_time") == nullptr);
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/phase/align.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

constexpr double kHour = 3600;

TEST_CASE("a lane's times come onto the coordinator's clock") {
  PhaseScript script;
  script.Worker(0).HasClock(kHour, 100e-6);
  script.Lane(0).StartsAt(0.25_s).EndsAt(2_s).Closes(1_s).HasDeadlineAt(1.5_s);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  REQUIRE(aligned.lanes.size() == 1);
  const AlignedLane& lane = aligned.lanes[0];
  const auto off_ns = [](CoordTime a, double s) { return std::abs(a - CoordAt(s)); };
  CHECK(off_ns(lane.first_op, 0.25) < 10);
  CHECK(off_ns(lane.ops_end, 2) < 10);
  CHECK(off_ns(lane.region_end, 3) < 10);
  CHECK(off_ns(lane.deadline.value(), 1.5) < 10);
  CHECK(lane.error_ns(CoordAt(0)) >= 100'000);
  CHECK(lane.error_ns(CoordAt(0)) < 101'000);
}

TEST_CASE("a worker without bursts shares the coordinator's clock") {
  PhaseScript script;
  script.Lane(0).StartsAt(1_s);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  CHECK(aligned.lanes[0].first_op == CoordAt(1));
  CHECK(aligned.lanes[0].error_ns(CoordAt(1)) == 0);
}

TEST_CASE("workers with the same bursts share one clock map") {
  PhaseScript script;
  for (const uint32_t worker : {0u, 1u}) script.Worker(worker).HasClock(3, 100e-6);
  script.Worker(2).HasClock(4, 100e-6);
  for (const uint32_t lane : {0u, 1u, 2u}) script.Lane(lane);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 3);
  CHECK(aligned.clocks.size() == 2);
  CHECK(aligned.lanes[0].clock == aligned.lanes[1].clock);
  CHECK(aligned.lanes[0].clock != aligned.lanes[2].clock);
}

TEST_CASE("where bursts contradict each other the narrowest is used and the step is told") {
  PhaseScript script;
  // Over 10 s, drift may add up to 5 ms; the clock jumped by a second.
  script.Worker(0).HasClock(7, 50e-6).Burst(10, 8, 400e-6);
  script.Lane(0).StartsAt(0_s).EndsAt(9_s);
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  CHECK(aligned.workers[0].clock_stepped);
  REQUIRE(aligned.lanes.size() == 1);
  CHECK(std::abs(aligned.lanes[0].first_op - CoordAt(0)) < 10);
}

TEST_CASE("bursts that agree within drift tell of no step") {
  PhaseScript script;
  script.Worker(0).HasClock(7, 50e-6).Burst(10, 7.004, 50e-6);
  script.Lane(0);
  const v1::PhaseRecord record = script.Record();
  CHECK_FALSE(Align(record, 1).workers[0].clock_stepped);
}

TEST_CASE("a burst with a step inside is left out") {
  PhaseScript script;
  script.Worker(0).HasClock(7, 50e-6).Burst(5, 7, 50e-6);
  script.Lane(0);
  v1::PhaseRecord record = script.Record();
  v1::PingBurst& second = *record.mutable_workers(0)->mutable_bursts(1);
  *second.add_samples() = second.samples(0);
  v1::PingSample& stepped = *second.mutable_samples(1);
  stepped.set_received_worker_ns(stepped.received_worker_ns() + 1'000'000'000);
  stepped.set_replied_worker_ns(stepped.replied_worker_ns() + 1'000'000'000);
  const AlignedPhase aligned = Align(record, 1);
  CHECK(aligned.workers[0].missing_reason.empty());
  CHECK_FALSE(aligned.workers[0].clock_stepped);
  CHECK(std::abs(aligned.lanes[0].first_op - CoordAt(0)) < 10);
}

TEST_CASE("a worker with no sound burst cannot be placed and is missing") {
  PhaseScript script;
  script.Lane(0);
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->add_bursts();
  const AlignedPhase aligned = Align(record, 1);
  CHECK(aligned.lanes.empty());
  CHECK_FALSE(aligned.workers[0].missing_reason.empty());
}

TEST_CASE("lanes that are lost, failed or sat out are left out") {
  PhaseScript script;
  script.Lane(0);
  script.Lane(1).FailsWith(5);
  script.Lane(2).SitsOut();
  script.Lane(3);
  script.Worker(3).IsLost("connection reset");
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 4);
  REQUIRE(aligned.lanes.size() == 1);
  CHECK(aligned.lanes[0].worker == 0);
  CHECK(aligned.workers[3].missing_reason == "connection reset");
}

TEST_CASE("a worker that the run does not know is ignored") {
  PhaseScript script;
  script.Lane(0);
  script.Lane(1);
  const v1::PhaseRecord record = script.Record();
  CHECK(Align(record, 1).lanes.size() == 1);
}

TEST_CASE("a timeline begins at the first op and ends with the region's totals whatever the record holds") {
  PhaseScript script;
  script.Worker(0).HasClock(-kHour, 1e-6);
  script.Lane(0).StartsAt(1_s).EndsAt(5_s).Moves(400).InOps(40).Point(2_s, 100, 10);
  v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  std::vector<AlignedPoint> points;
  TimelineOf(aligned.lanes[0], points);
  REQUIRE(points.size() == 3);
  CHECK(points[0] == AlignedPoint{aligned.lanes[0].first_op, 0, 0});
  CHECK(std::abs(points[1].at - CoordAt(2)) < 10);
  CHECK(points[1].bytes == 100);
  CHECK(points[2] == AlignedPoint{aligned.lanes[0].ops_end, 400, 40});

  record.mutable_workers(0)->mutable_lanes(0)->clear_timeline();
  TimelineOf(aligned.lanes[0], points);
  REQUIRE(points.size() == 2);
  CHECK(points[0].bytes == 0);
  CHECK(points[1].bytes == 400);
}

TEST_CASE("a lane that was stopped before its first op has no times and no timeline") {
  PhaseScript script;
  script.Lane(0).NeverStarts();
  const v1::PhaseRecord record = script.Record();
  const AlignedPhase aligned = Align(record, 1);
  REQUIRE(aligned.lanes.size() == 1);
  CHECK_FALSE(aligned.lanes[0].started);
  std::vector<AlignedPoint> points = {{CoordAt(0), 1, 1}};
  TimelineOf(aligned.lanes[0], points);
  CHECK(points.empty());
}

}  // namespace
}  // namespace iobench

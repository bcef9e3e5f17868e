#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <vector>

#include "coordinator/analysis/phase/open_loop_figures.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::Assignment& AddStat(double ops_per_s, v1::Phase& phase) {
  v1::Assignment& stat = *phase.add_assignments();
  stat.set_name("stat");
  stat.mutable_operation()->set_name("stat");
  stat.mutable_operation()->set_engine("posix-metadata");
  stat.mutable_operation()->mutable_arrivals()->set_ops_per_s(ops_per_s);
  return stat;
}

// Workers 0 and 1 read, worker 2 asks for attributes. Reads take 2 ms and stats 0.5 ms.
PhaseScript Mixed() {
  PhaseScript script("random-read");
  script.plan().mutable_assignments(0)->set_name("reads");
  script.plan().mutable_assignments(0)->mutable_who()->add_workers(0);
  script.plan().mutable_assignments(0)->mutable_who()->add_workers(1);
  AddStat(400, script.plan()).mutable_who()->add_workers(2);
  script.Lane(0).Moves(1000_MiB).InOps(1000).EndsAt(10_s).OpsTake(0.002);
  script.Lane(1).Moves(2000_MiB).InOps(2000).EndsAt(10_s).OpsTake(0.002);
  script.Lane(2).Moves(0).InOps(4000).EndsAt(10_s).OpsTake(0.0005);
  return script;
}

// Workers 0 and 1 on the paths /mnt/test and /mnt/b.
PhaseScript OnTwoPaths() {
  PhaseScript script("read");
  script.run.mutable_plan()->add_targets()->set_path("/mnt/b");
  script.Lane(0).Moves(1000_MiB).InOps(1000).EndsAt(10_s).OpsTake(0.002);
  script.Lane(1).Moves(3000_MiB).InOps(3000).EndsAt(10_s).OpsTake(0.001);
  for (const uint32_t n : {0u, 1u}) *script.Worker(n).targets.add_targets() = script.Worker(n).targets.targets(0);
  return script;
}

TEST_CASE("each path of a phase on several has the rates of its own lanes, which add up to the headline") {
  const v1::PhaseReport report = OnTwoPaths().Report();
  REQUIRE(report.paths_size() == 2);
  CHECK(report.paths(0).path() == "/mnt/test");
  CHECK(report.paths(0).bytes_per_s() == Approx(100 * kMiB));
  CHECK(report.paths(1).path() == "/mnt/b");
  CHECK(report.paths(1).lane_count() == 1);
  CHECK(report.paths(1).worker_count() == 1);
  CHECK(report.paths(1).ops_per_s() == Approx(300));
  CHECK(report.paths(1).bytes_per_s() == Approx(300 * kMiB));
  CHECK(report.paths(1).latency_us().p50() == Approx(1000).epsilon(0.01));
  CHECK(report.clients(0).workers(1).lanes(0).path() == "/mnt/b");
  CHECK(report.headline().bytes_per_s() == Approx(report.paths(0).bytes_per_s() + report.paths(1).bytes_per_s()));
}

TEST_CASE("a phase on one path, or whose paths are unknown, has no rates by path") {
  CHECK(TwoLanes().Report().paths().empty());
  PhaseScript one_after_the_other = OnTwoPaths();
  one_after_the_other.plan().set_only_target(1);
  CHECK(one_after_the_other.Report().paths().empty());
  PhaseScript unknown = OnTwoPaths();
  unknown.Worker(1).targets.clear_targets();
  CHECK(unknown.Report().paths().empty());
}

TEST_CASE("a phase with one assignment has no parts") {
  REQUIRE(TwoLanes().Report().parts().empty());
}

TEST_CASE(
    "each assignment has the ops, rates and latencies of its own workers, which add up to the headline") {
  const v1::PhaseReport report = Mixed().Report();
  REQUIRE(report.parts_size() == 2);
  const v1::PartReport& reads = report.parts(0);
  CHECK(reads.name() == "reads");
  CHECK(reads.operation() == "random-read");
  CHECK(reads.record_bytes() == 1_MiB);
  CHECK(reads.worker_count() == 2);
  CHECK(reads.lane_count() == 2);
  CHECK(reads.ops() == 3000);
  CHECK(reads.bytes() == 3000_MiB);
  CHECK(reads.ops_per_s() == Approx(300));
  CHECK(reads.bytes_per_s() == Approx(300 * kMiB));
  CHECK(reads.latency_us().p50() == Approx(2000).epsilon(0.01));
  CHECK_FALSE(reads.has_open_loop());

  const v1::PartReport& stats = report.parts(1);
  CHECK(stats.worker_count() == 1);
  CHECK(stats.ops_per_s() == Approx(400));
  CHECK(stats.bytes() == 0);
  CHECK(stats.latency_us().p50() == Approx(500).epsilon(0.01));
  REQUIRE(stats.has_open_loop());
  CHECK(stats.open_loop().asked_ops_per_s() == 400);
  CHECK(reads.ops_per_s() + stats.ops_per_s() == Approx(report.headline().ops_per_s()));
}

TEST_CASE("a lane is a straggler only among those of its own part") {
  PhaseScript script = Mixed();
  // 2000 and 1000 ops: the median is 1500, so lane 0 is 33 % below it. Lane 2 moves nothing, as it should.
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.stragglers_size() == 1);
  CHECK(report.stragglers(0).find("lane 0") != std::string::npos);
  CHECK(report.stragglers(0).find("33 % under the median") != std::string::npos);
}

TEST_CASE("an op counts as due for the part of its own worker only") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  v1::PhaseRecord record = script.Record();
  Histogram response;
  for (int i = 0; i < 90; ++i) response.Add(3'000'000);
  *record.mutable_workers(1)->mutable_lanes(0)->mutable_response() = response.ToProto();
  record.mutable_workers(1)->set_missed_arrivals(10);
  record.mutable_workers(2)->set_missed_arrivals(7);
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.parts(0).open_loop().asked_ops_per_s() == 500);
  CHECK(report.parts(0).open_loop().due_ops() == 100);
  CHECK(report.parts(0).open_loop().missed_ops() == 10);
  CHECK(report.parts(0).open_loop().response_us().p50() == Approx(3000).epsilon(0.01));
  CHECK(report.parts(1).open_loop().missed_ops() == 7);
  CHECK(report.open_loop().asked_ops_per_s() == 900);
  CHECK(report.open_loop().missed_ops() == 17);
}

TEST_CASE("each part with a rate is judged by itself: the mark names the one whose ops began late") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  v1::PhaseRecord record = script.Record();
  const auto responds = [&record](int worker, uint64_t lag_ns) {
    Histogram response, lag;
    for (int i = 0; i < 1000; ++i) {
      lag.Add(lag_ns);
      response.Add(lag_ns + 3'000'000);
    }
    v1::LaneResult& lane = *record.mutable_workers(worker)->mutable_lanes(0);
    *lane.mutable_response() = response.ToProto();
    *lane.mutable_lag() = lag.ToProto();
  };
  for (const int worker : {0, 1, 2}) responds(worker, 10'000);
  const auto subjects = [&] {
    std::vector<std::string> found;
    const v1::PhaseReport report = SummarizePhase(script.Run(), record);
    for (const v1::Mark& mark : report.marks()) {
      if (mark.code() == "generator_bound") found.push_back(mark.subject());
    }
    return found;
  };
  CHECK(subjects().empty());
  responds(2, 3'000'000);  // half of its responses
  CHECK(subjects() == std::vector<std::string>{script.Report().parts(1).name()});
  responds(2, 10'000);
  record.mutable_workers(1)->set_missed_arrivals(100);  // of the first part, which the other's ops would hide
  CHECK(subjects() == std::vector<std::string>{"reads"});
}

TEST_CASE("ops of a worker that does not count are not due") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  v1::PhaseRecord record = script.Record();
  Histogram response;
  for (int i = 0; i < 90; ++i) response.Add(3'000'000);
  for (const int worker : {0, 1}) {
    *record.mutable_workers(worker)->mutable_lanes(0)->mutable_response() = response.ToProto();
    record.mutable_workers(worker)->set_missed_arrivals(10);
  }
  CHECK(SummarizePhase(script.Run(), record).open_loop().due_ops() == 200);
  SECTION("it was lost after its result had been collected") {
    record.mutable_workers(0)->set_lost(true);
  }
  SECTION("its result was refused") {
    record.mutable_workers(0)->set_refused_reason("it missed more ops than there is time for");
  }
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  for (const v1::OpenLoopReport& open_loop : {report.open_loop(), report.parts(0).open_loop()}) {
    CHECK(open_loop.due_ops() == 100);
    CHECK(open_loop.missed_ops() == 10);
  }
  CHECK(report.parts(0).open_loop().asked_ops_per_s() == 250);  // half of the rate was its own
  CHECK(report.parts(0).open_loop().gap_us() == Approx(4000));
  CHECK(report.open_loop().asked_ops_per_s() == 650);
  CHECK(report.open_loop().gap_us() == Approx(1e6 * 2 / 650));
}

TEST_CASE(
    "a worker that was lost in the phase takes its share of the rate along, even if it had moved nothing") {
  PhaseScript script = Mixed();
  script.plan().mutable_assignments(1)->mutable_who()->add_workers(3);
  script.Lane(3).Moves(0).InOps(4000).EndsAt(10_s).OpsTake(0.0005);
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(3)->set_lost(true);
  record.mutable_workers(3)->clear_lanes();
  record.mutable_workers(3)->set_lost_in_phase(true);
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.parts(1).open_loop().asked_ops_per_s() == 200);  // of 400
  CHECK(report.parts(1).open_loop().gap_us() == Approx(5000));
  CHECK(report.open_loop().asked_ops_per_s() == 200);
}

TEST_CASE(
    "a share of the rate is not asked if its worker refused the phase, unless the others had shared it") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  script.Lane(1).FailsWith(ESTALE);  // as a refusal is recorded
  v1::PhaseRecord record = script.Record();
  double asked_per_s = 500;
  SECTION("it refused when the rate had been divided") {
    record.mutable_workers(0)->set_rate_share_count(2);
    asked_per_s = 250;
  }
  SECTION("the rate was divided without it") {
    record.mutable_workers(0)->set_rate_share_count(1);
  }
  SECTION("a record of a version that noted no shares") {}
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.parts(0).open_loop().asked_ops_per_s() == asked_per_s);
  CHECK(report.parts(0).open_loop().gap_us() == Approx(1e6 / asked_per_s));
  CHECK(report.open_loop().asked_ops_per_s() == asked_per_s + 400);
}

TEST_CASE("a worker that was lost, or whose result was refused, takes along the share that it had") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  v1::PhaseRecord record = script.Record();
  for (const int worker : {0, 1}) record.mutable_workers(worker)->set_rate_share_count(2);
  SECTION("lost") {
    record.mutable_workers(0)->set_lost(true);
    record.mutable_workers(0)->clear_lanes();
  }
  SECTION("refused") {
    record.mutable_workers(0)->set_refused_reason("it missed more ops than there is time for");
  }
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.parts(0).open_loop().asked_ops_per_s() == 250);
  CHECK(report.open_loop().asked_ops_per_s() == 650);
}

TEST_CASE("ops that failed during the warm-up are neither due nor missed") {
  PhaseScript script("random-read");
  script.operation().mutable_arrivals()->set_ops_per_s(10);
  script.Lane(0).Moves(100_MiB).InOps(100).EndsAt(10_s);
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->set_missed_arrivals(3);
  v1::LaneResult& lane = *record.mutable_workers(0)->mutable_lanes(0);
  Histogram response;
  for (int i = 0; i < 90; ++i) response.Add(3'000'000);
  *lane.mutable_response() = response.ToProto();
  for (const uint64_t count : {10, 2}) {
    v1::ErrorCount& error = *lane.add_errors();
    error.set_kind(v1::OP_READ);
    error.set_errno_value(count == 2 ? EIO : ESTALE);
    error.set_count(count);
  }
  struct Case {
    uint64_t warmup_errors, missed;
  };
  for (const Case& each : {Case{0, 3 + 12}, Case{5, 3 + 7}, Case{12, 3}, Case{UINT64_MAX, 3}}) {
    lane.set_warmup_errors(each.warmup_errors);
    const v1::OpenLoopReport open_loop = SummarizePhase(script.Run(), record).open_loop();
    CHECK(open_loop.missed_ops() == each.missed);
    CHECK(open_loop.due_ops() == 90 + each.missed);
    CHECK(open_loop.done_percent() == Approx(9000.0 / static_cast<double>(90 + each.missed)));
  }
}

TEST_CASE("the workers that are left share the whole rate in later phases") {
  PhaseScript script = Mixed();
  script.operation().mutable_arrivals()->set_ops_per_s(500);
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->set_lost(true);
  record.mutable_workers(0)->clear_lanes();
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  CHECK(report.parts(0).open_loop().asked_ops_per_s() == 500);
  CHECK(report.parts(0).open_loop().gap_us() == Approx(2000));
  CHECK(report.open_loop().asked_ops_per_s() == 900);
}

TEST_CASE("a part whose workers did nothing is listed with zeros") {
  PhaseScript script = Mixed();
  script.Worker(2).IsLost("gone");
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.parts_size() == 2);
  CHECK(report.parts(1).worker_count() == 0);
  CHECK(report.parts(1).ops() == 0);
  CHECK(report.parts(1).latency_us().count() == 0);
}

}  // namespace
}  // namespace iobench

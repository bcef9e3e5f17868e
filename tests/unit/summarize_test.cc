#include "coordinator/analysis/summarize.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <string>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

constexpr double kHour = 3600;

TEST_CASE("a phase on a target that the plan does not have has no target in the report") {
  for (const uint32_t target : {2u, 2'147'483'648u, 4'294'967'295u}) {
    PhaseScript script("read");
    script.Lane(0).Moves(1_GiB).EndsAt(1_s);
    script.phase.mutable_phase()->set_only_target(target);
    v1::RunRecord run = script.Run();
    if (run.plan().targets().empty()) run.mutable_plan()->add_targets()->set_path("/mnt/nfs");
    REQUIRE(run.plan().targets_size() == 1);
    CHECK(SummarizePhase(run, script.Record()).target().empty());
  }
}

TEST_CASE(
    "two lanes, one ends at 5 s with 5 GiB, the other runs 10 s to 10 GiB: the stonewall is 10 GiB in 5 s") {
  PhaseScript script = TwoLanes();
  script.Worker(0).SaysDoneAt(5.1_s);
  script.Worker(1).SaysDoneAt(12_s);
  const v1::PhaseReport report = script.Report();
  const v1::Throughput& rates = report.throughput_bytes_per_s();
  CHECK(rates.stonewalled() == Approx(10 * kGiB / 5));
  CHECK(rates.full() == Approx(15 * kGiB / 10));
  CHECK(rates.all_active() == Approx(10 * kGiB / 5));
  CHECK(rates.children() == Approx(2 * kGiB));
  CHECK(rates.parent() == Approx(15 * kGiB / 12));
  CHECK(std::isnan(rates.deadline()));
  CHECK(report.straggler_cost() == Approx(0.25));
  CHECK(report.headline().name() == "stonewalled");
  CHECK(report.headline().region() == "ops");
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.headline().ops_per_s() == Approx(400));
  CHECK(report.throughput_ops_per_s().full() == Approx(300));
  CHECK(report.stonewall().kind() == "retroactive");
  CHECK(report.stonewall().at_s() == Approx(5));
  CHECK(report.stonewall().first_lane() == "node1 worker 0 lane 0");
  CHECK(report.stonewall().bytes_low() == 10 * kGiB);
  CHECK(report.stonewall().bytes_high() == 10 * kGiB);
  CHECK(report.bytes() == 15_GiB);
  CHECK(report.measured_bytes() == 10_GiB);
  CHECK(report.measured_ops() == 2000);
  CHECK(report.ops() == 3000);
  CHECK(report.duration_s() == Approx(10));
  CHECK(report.headline_s() == Approx(5));  // by the stonewall
  CHECK(report.name() == "read");
  CHECK(report.title() == "read");
}

// Two lanes over files of 1 GiB. Lane 0 writes 1 GiB/s, lane 1 half as much, for 10 s.
PhaseScript TwoLoopingLanes() {
  PhaseScript script("write", 2);
  script.plan().mutable_stop()->set_time_s(10);
  script.Lane(0).Writes().Moves(10_GiB).InOps(1000).EndsAt(10_s).LoopsOver(1_GiB, 1_s);
  script.Lane(1).Writes().Moves(5_GiB).InOps(1000).EndsAt(10_s).LoopsOver(1_GiB, 2_s);
  return script;
}

TEST_CASE("the first pass over new files ends when the first lane begins its second") {
  const v1::PhaseReport report = TwoLoopingLanes().Report();
  const v1::FirstPassReport& pass = report.first_pass();
  CHECK(pass.kind() == "retroactive");
  CHECK(pass.seconds() == Approx(1));
  CHECK(pass.bytes() == Approx(1.5 * kGiB));
  CHECK(pass.bytes_per_s() == Approx(1.5 * kGiB));
  CHECK(pass.ops_per_s() == Approx(200));
  CHECK(pass.overwritten_percent() == Approx(100 * 13.0 / 15));
  CHECK(report.title() == "write, overwriting");
}

TEST_CASE("with flushes between passes, the first pass counts whole passes until the last lane has flushed") {
  PhaseScript script = TwoLoopingLanes();
  script.plan().mutable_region()->set_fsync(true);
  script.plan().mutable_region()->set_flush_passes(true);
  const v1::FirstPassReport pass = script.Report().first_pass();
  CHECK(pass.kind() == "flushed");
  CHECK(pass.seconds() == Approx(2));
  CHECK(pass.bytes() == 2_GiB);  // lane 0 has moved 2 GiB by then, of which 1 GiB is of its second pass
  CHECK(pass.bytes_per_s() == Approx(kGiB));
}

TEST_CASE("a lane that began no second pass counts in the first with all that it did") {
  PhaseScript script = TwoLoopingLanes();
  script.plan().mutable_region()->set_fsync(true);
  script.plan().mutable_region()->set_flush_passes(true);
  script.Lane(1).Moves(512_MiB).LoopsOver(1_GiB, -1);
  const v1::FirstPassReport pass = script.Report().first_pass();
  CHECK(pass.seconds() == Approx(10));
  CHECK(pass.bytes() == 1_GiB + 512_MiB);
  CHECK(pass.overwritten_percent() == Approx(100 * 9.0 / 10.5));
}

TEST_CASE("a warm-up is left out of the first pass, and may cover it") {
  PhaseScript script = TwoLoopingLanes();
  script.plan().mutable_stop()->set_warmup_s(0.5);
  v1::FirstPassReport pass = script.Report().first_pass();
  CHECK(pass.seconds() == Approx(0.5));
  CHECK(pass.bytes() == Approx(0.75 * kGiB));
  CHECK(pass.overwritten_percent() == Approx(100 * (9 + 4) / 14.25));
  script.plan().mutable_stop()->set_warmup_s(3);
  pass = script.Report().first_pass();
  CHECK(pass.seconds() == 0);
  CHECK(pass.bytes() == 0);
  CHECK(std::isnan(pass.bytes_per_s()));
  CHECK(pass.overwritten_percent() == Approx(100));
}

TEST_CASE("the title says how much of the headline overwrites") {
  PhaseScript script("write");
  script.Lane(0).Writes().Moves(4_GiB).InOps(100).EndsAt(4_s).LoopsOver(3_GiB, 3_s);
  CHECK(script.Report().title() == "write, partly overwriting");
  CHECK(script.Report().first_pass().headline() == "partly overwriting");
  script.Lane(0).LoopsOver(3_GiB, -1);
  CHECK(script.Report().title() == "initial write");
  CHECK_FALSE(script.Report().has_first_pass());
  PhaseScript rewrite("rewrite");
  rewrite.Lane(0).Writes().Moves(4_GiB).InOps(100).EndsAt(4_s).LoopsOver(1_GiB, 1_s);
  CHECK_FALSE(rewrite.Report().has_first_pass());
  CHECK(rewrite.Report().title() == "rewrite");
}

TEST_CASE("the op in flight at the stonewall does not count") {
  PhaseScript script;
  script.Lane(0).Moves(5_MiB).EndsAt(5_s).InOps(5);
  script.Lane(1).Moves(4_MiB).EndsAt(8_s).InOps(4);  // ends at 2, 4, 6, 8
  const v1::PhaseReport report = script.Report();
  CHECK(report.measured_bytes() == 7_MiB);
  CHECK(report.stonewall().bytes_high() == 7 * kMiB);
}

TEST_CASE("a thin timeline bounds what had been moved by the stonewall") {
  PhaseScript script;
  script.Lane(0).Moves(5_MiB).EndsAt(5_s).InOps(5);
  script.Lane(1).Moves(40_MiB).EndsAt(8_s).InOps(40).Point(4_s, 20_MiB, 20).Point(8_s, 40_MiB, 40);
  const v1::PhaseReport report = script.Report();
  CHECK(report.measured_bytes() == 30_MiB);
  CHECK(report.stonewall().bytes_low() == 25 * kMiB);
  CHECK(report.stonewall().bytes_high() == 45 * kMiB);
  CHECK(report.stonewall().uncertain_percent() == Approx(100 * 20 / 45.0));
}

// All figures of this phase are worked out by hand in the test below.
PhaseScript ThreeLanesFlushed() {
  PhaseScript script("write");
  script.plan().set_stonewall(v1::STONEWALL_FLUSHED);
  script.plan().mutable_region()->set_fsync(true);
  script.plan().mutable_region()->set_close(true);
  script.Lane(0).Writes().StartsAt(0_s).EndsAt(4_s).Moves(400_MiB).InOps(400).Fsyncs(1_s).Closes(0.5_s);
  script.Lane(1).Writes().StartsAt(0.5_s).EndsAt(4.5_s).Moves(200_MiB).InOps(200).Fsyncs(0.25_s).Closes(
      0.25_s);
  script.Lane(1).IsStopped().FinishesUnmeasured(200_MiB);
  script.Lane(2).Writes().StartsAt(1_s).EndsAt(4.25_s).Moves(325_MiB).InOps(325).Fsyncs(2_s).Closes(0.25_s);
  script.Lane(2).IsStopped().FinishesUnmeasured(75_MiB);
  for (const uint32_t worker : {0u, 1u, 2u}) script.Worker(worker).SaysDoneAt(6.6_s);
  return script;
}

TEST_CASE("every figure of an asymmetric flushed phase of three lanes") {
  const v1::PhaseReport report = ThreeLanesFlushed().Report();
  CHECK(report.stonewall().kind() == "flushed");
  CHECK(report.stonewall().at_s() == Approx(4));
  CHECK(report.stonewall().bytes_low() == 925 * kMiB);
  CHECK(report.stonewall().bytes_high() == 925 * kMiB);
  CHECK(report.headline().name() == "stonewalled");
  CHECK(report.headline().region() == "ops+fsync+close");
  CHECK(report.measured_bytes() == 925_MiB);
  CHECK(report.bytes() == 1200_MiB);

  const v1::Throughput& rates = report.throughput_bytes_per_s();
  CHECK(rates.stonewalled() == Approx(925 * kMiB / 6.5));
  CHECK(report.headline().bytes_per_s() == Approx(925 * kMiB / 6.5));
  CHECK(std::isnan(rates.full()));
  CHECK(std::isnan(report.straggler_cost()));
  CHECK(std::isnan(rates.all_active()));  // those bytes were not flushed
  CHECK(rates.children() == Approx((400 / 5.5 + 200 / 4.5 + 325 / 5.5) * kMiB));
  CHECK(rates.parent() == Approx(925 * kMiB / 6.6));

  CHECK(report.regions_s().ops() == Approx((4 + 4 + 3.25) / 3));
  CHECK(report.regions_s().fsync() == Approx(3.25 / 3));
  CHECK(report.regions_s().close() == Approx(1.0 / 3));
  CHECK(report.regions_max_s().ops() == Approx(4));
  CHECK(report.regions_max_s().fsync() == Approx(2));
  CHECK(report.regions_max_s().close() == Approx(0.5));
  CHECK(report.duration_s() == Approx(6.5));
  CHECK(report.start().skew_us() == Approx(1e6));
  CHECK(report.start().skew_percent() == Approx(100 / 6.5));
  CHECK(report.start().late_us() == Approx(0).margin(1e-3));

  const double a = 400 / 5.5, b = 200 / 4.5, c = 325 / 5.5;
  const v1::Spread& spread = report.lanes_bytes_per_s();
  CHECK(spread.mean() == Approx((a + b + c) / 3 * kMiB));
  CHECK(spread.min() == Approx(b * kMiB));
  CHECK(spread.max() == Approx(a * kMiB));
  CHECK(spread.jain() == Approx((a + b + c) * (a + b + c) / (3 * (a * a + b * b + c * c))));
  const double mean = (a + b + c) / 3;
  const double variance = ((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 3;
  CHECK(spread.cov() == Approx(std::sqrt(variance) / mean));
  REQUIRE(report.stragglers_size() == 1);  // 44.4 against a median of 59.1
  CHECK(report.stragglers(0).find("node1 worker 1 lane 1: ") == 0);
  CHECK(report.stragglers(0).find(", 25 % under the median") != std::string::npos);

  const v1::LanePhaseReport& lane = report.clients(0).workers(2).lanes(0);
  CHECK(lane.measured_bytes() == 325_MiB);
  CHECK(lane.bytes() == 400_MiB);
  CHECK(lane.bytes_per_s() == Approx(c * kMiB));
  CHECK(lane.start_us() == Approx(1e6));
  CHECK(lane.end_s() == Approx(6.5));
  CHECK(lane.stopped());
}

TEST_CASE("the region of the headline is named by the timed region's parts") {
  PhaseScript script = ThreeLanesFlushed();
  script.plan().mutable_region()->set_close(false);
  CHECK(script.Report().headline().region() == "ops+fsync");
  script.plan().mutable_region()->set_fsync(false);
  script.plan().mutable_region()->set_close(true);
  script.plan().mutable_region()->set_open(true);
  CHECK(script.Report().headline().region() == "open+ops+close");
  script.plan().set_stonewall(v1::STONEWALL_RETROACTIVE);
  CHECK(script.Report().headline().region() == "open+ops");
}

TEST_CASE("with the open in the timed region the ops' part begins after it") {
  PhaseScript script = TwoLanes();
  script.plan().mutable_region()->set_open(true);
  script.Lane(0).Opens(1_s);
  script.Lane(1).Opens(3_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.regions_s().open() == Approx(2));
  CHECK(report.regions_s().ops() == Approx((4.0 + 7.0) / 2));
  CHECK(report.regions_max_s().open() == Approx(3));
}

TEST_CASE("-x makes the full figure the headline, and the stonewall stands beside it") {
  PhaseScript script = TwoLanes();
  script.plan().set_stonewall(v1::STONEWALL_NONE);
  script.plan().mutable_region()->set_close(true);
  script.Lane(1).Closes(2_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.stonewall().kind() == "none");
  CHECK(report.headline().name() == "full");
  CHECK(report.headline().region() == "ops+close");
  CHECK(report.headline().bytes_per_s() == Approx(15 * kGiB / 12));
  CHECK(report.measured_bytes() == 15_GiB);
  CHECK(report.throughput_bytes_per_s().stonewalled() == Approx(2 * kGiB));
  // Each lane to its own end: 5 GiB in 5 s, 10 GiB in 12 s.
  CHECK(report.throughput_bytes_per_s().children() == Approx(kGiB * (1 + 10.0 / 12)));
}

TEST_CASE("-x with a timed flush has no stonewalled figure: those bytes were not flushed") {
  PhaseScript script = TwoLanes("write");
  script.plan().set_stonewall(v1::STONEWALL_NONE);
  script.plan().mutable_region()->set_close(true);
  const v1::PhaseReport report = script.Report();
  CHECK(std::isnan(report.throughput_bytes_per_s().stonewalled()));
  CHECK(std::isnan(report.straggler_cost()));
  CHECK(report.headline().bytes_per_s() == Approx(1.5 * kGiB));
  script.operation().set_direct(true);  // nothing is left to flush
  CHECK(script.Report().throughput_bytes_per_s().stonewalled() == Approx(2 * kGiB));
}

TEST_CASE("--stop-at-stonewall keeps the retroactive window and has no full figure") {
  PhaseScript script = TwoLanes();
  script.plan().set_stonewall(v1::STONEWALL_STOP);
  script.Lane(1).Moves(6_GiB).EndsAt(6_s).InOps(1200).IsStopped();
  const v1::PhaseReport report = script.Report();
  CHECK(report.stonewall().kind() == "stop");
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(std::isnan(report.throughput_bytes_per_s().full()));
}

TEST_CASE("an interrupt stops lanes too, but leaves the full figure of what was done") {
  PhaseScript script = TwoLanes();
  script.phase.set_interrupted(true);
  script.Lane(1).Moves(6_GiB).EndsAt(6_s).InOps(1200).IsStopped();
  const v1::PhaseReport report = script.Report();
  CHECK(report.interrupted());
  CHECK(report.throughput_bytes_per_s().full() == Approx(11 * kGiB / 6));
}

TEST_CASE("a phase is whole unless a lane failed, sat out or was lost, or an interrupt cut it off") {
  CHECK(TwoLanes().Report().not_whole().empty());
  PhaseScript sat_out = TwoLanes();
  sat_out.Lane(1).SitsOut();
  CHECK(sat_out.Report().not_whole() == "1 lane sat out");
  PhaseScript failed = TwoLanes();
  failed.Lane(1).FailsWith(EIO);
  failed.phase.set_interrupted(true);
  CHECK(failed.Report().not_whole() == "interrupted, 1 lane failed");
  PhaseScript lost = TwoLanes();
  lost.Worker(1).IsLost("gone");
  CHECK(lost.Report().not_whole() == "1 worker lost");
  v1::PhaseRecord record = TwoLanes().Record();
  record.mutable_workers(1)->set_refused_reason("impossible");
  CHECK(SummarizePhase(TwoLanes().Run(), record).not_whole() == "1 worker refused");
}

TEST_CASE("lanes that end at the time limit end normally") {
  PhaseScript script;
  script.plan().mutable_stop()->set_time_s(10);
  script.Lane(0).Moves(1000_MiB).EndsAt(10_s).InOps(1000).HasDeadlineAt(10_s);
  script.Lane(1).Moves(1001_MiB).EndsAt(10.01_s).InOps(1001).HasDeadlineAt(10_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.throughput_bytes_per_s().full() == Approx(2001 * kMiB / 10.01));
  CHECK(report.throughput_bytes_per_s().stonewalled() == Approx(200 * kMiB));
  CHECK(report.stonewall().at_s() == Approx(10));
  CHECK(std::isnan(report.throughput_bytes_per_s().deadline()));
}

TEST_CASE("with a deadline and wear-out both figures are kept") {
  PhaseScript script;
  script.plan().mutable_stop()->set_deadline_s(4);
  script.plan().mutable_stop()->set_wear_out(true);
  script.Lane(0).Moves(400_MiB).EndsAt(4_s).InOps(400).HasDeadlineAt(4_s);
  script.Lane(1).Moves(400_MiB).EndsAt(8_s).InOps(400).HasDeadlineAt(4_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.throughput_bytes_per_s().deadline() == Approx(600 * kMiB / 4));
  CHECK(report.throughput_ops_per_s().deadline() == Approx(150));
  CHECK(report.throughput_bytes_per_s().full() == Approx(800 * kMiB / 8));
  CHECK(report.headline().name() == "stonewalled");
}

TEST_CASE("beside flushed bytes there are no figures of unflushed ones") {
  PhaseScript script("write");
  script.plan().mutable_stop()->set_deadline_s(4);
  script.plan().mutable_region()->set_fsync(true);
  script.plan().set_stonewall(v1::STONEWALL_FLUSHED);
  for (const uint32_t lane : {0, 1}) {
    script.Lane(lane).Writes().Moves(400_MiB).EndsAt(4_s).InOps(400).HasDeadlineAt(4_s).Fsyncs(4_s);
  }
  v1::Throughput rates = script.Report().throughput_bytes_per_s();
  CHECK(std::isnan(rates.all_active()));
  CHECK(std::isnan(rates.deadline()));
  CHECK(rates.stonewalled() == Approx(100 * kMiB));
  CHECK(rates.full() == Approx(100 * kMiB));
  CHECK(std::isnan(script.Report().throughput_ops_per_s().deadline()));
  script.plan().set_stonewall(v1::STONEWALL_NONE);
  CHECK(std::isnan(script.Report().throughput_bytes_per_s().deadline()));
  // O_DIRECT leaves nothing to flush; without -e the whole phase is marked unflushed.
  script.operation().set_direct(true);
  CHECK(script.Report().throughput_bytes_per_s().deadline() == Approx(200 * kMiB));
  script.operation().set_direct(false);
  script.plan().clear_region();
  rates = script.Report().throughput_bytes_per_s();
  CHECK(rates.deadline() == Approx(200 * kMiB));
  CHECK(rates.all_active() == Approx(200 * kMiB));
}

TEST_CASE("the warm-up ends S seconds after the start, and the op that is in flight then counts whole") {
  PhaseScript script;
  script.plan().mutable_stop()->set_warmup_s(2);
  // Begins late; ops of 1 MiB end at 1, 1.9, 2.1 s and so on.
  script.Lane(0).StartsAt(0.5_s).EndsAt(4.1_s).Moves(5_MiB).InOps(5);
  script.Lane(0).Point(1_s, 1_MiB, 1).Point(1.9_s, 2_MiB, 2).Point(2.1_s, 3_MiB, 3);
  script.Lane(0).Point(3.1_s, 4_MiB, 4).Point(4.1_s, 5_MiB, 5);
  const v1::PhaseReport report = script.Report();
  CHECK(report.measured_bytes() == 3_MiB);
  CHECK(report.measured_ops() == 3);
  CHECK(report.headline().bytes_per_s() == Approx(3 * kMiB / 2.1));
  CHECK(report.throughput_bytes_per_s().full() == Approx(3 * kMiB / 2.1));
  CHECK(report.throughput_bytes_per_s().children() == Approx(3 * kMiB / 2.1));
  CHECK(report.duration_s() == Approx(3.6));
}

TEST_CASE("the warm-up is in no window") {
  PhaseScript script;
  script.plan().mutable_stop()->set_warmup_s(2);
  // Lane 0: slow for 2 s, then 100 MiB/s to 7 s. Lane 1: 50 MiB/s all the way to 12 s.
  script.Lane(0).Moves(510_MiB).EndsAt(7_s).InOps(510).Point(2_s, 10_MiB, 10).Point(7_s, 510_MiB, 510);
  script.Lane(1).Moves(600_MiB).EndsAt(12_s).InOps(600);
  script.Worker(0).SaysDoneAt(7_s);
  script.Worker(1).SaysDoneAt(12_s);
  const v1::PhaseReport report = script.Report();
  CHECK(report.headline().bytes_per_s() == Approx((500 + 250) * kMiB / 5));
  CHECK(report.measured_bytes() == 750_MiB);
  CHECK(report.throughput_bytes_per_s().full() == Approx((500 + 500) * kMiB / 10));
  CHECK(report.throughput_bytes_per_s().all_active() == Approx(150 * kMiB));
  CHECK(report.throughput_bytes_per_s().children() == Approx(150 * kMiB));
  CHECK(report.throughput_bytes_per_s().parent() == Approx(1000 * kMiB / 10));
  CHECK(report.stonewall().at_s() == Approx(7));
  CHECK(report.bytes() == 1110_MiB);
}

TEST_CASE("lanes on clocks an hour apart give the same result as on one clock") {
  PhaseScript one = ThreeLanesFlushed();
  PhaseScript apart = ThreeLanesFlushed();
  apart.Worker(1).HasClock(kHour, 20e-6).RunsOn("node2", "boot2");
  apart.Worker(2).HasClock(-kHour, 20e-6).RunsOn("node3", "boot3");
  for (const v1::Stonewall kind : {v1::STONEWALL_FLUSHED, v1::STONEWALL_RETROACTIVE}) {
    one.plan().set_stonewall(kind);
    apart.plan().set_stonewall(kind);
    const v1::PhaseReport expected = one.Report();
    const v1::PhaseReport report = apart.Report();
    CHECK(report.headline().bytes_per_s() == Approx(expected.headline().bytes_per_s()).epsilon(0.005));
    CHECK(report.throughput_bytes_per_s().children() ==
          Approx(expected.throughput_bytes_per_s().children()).epsilon(0.005));
    CHECK(report.throughput_bytes_per_s().parent() == Approx(expected.throughput_bytes_per_s().parent()));
    CHECK(report.stonewall().at_s() == Approx(4));
    CHECK(report.duration_s() == Approx(6.5));
    CHECK(report.start().skew_us() == Approx(1e6));
  }
  CHECK(apart.Report().clients_size() == 3);
  CHECK(apart.Report().clients(0).clock_error_us() == 0);
  CHECK(apart.Report().clients(1).clock_error_us() > 20);
}

TEST_CASE("the start's skew lies between bounds that both clocks' errors make") {
  PhaseScript script;
  script.Worker(0).HasClock(5, 1e-3).RunsOn("node1", "boot1");
  script.Worker(1).HasClock(-7, 2e-3).RunsOn("node2", "boot2");
  script.Lane(0).StartsAt(0_ms);
  script.Lane(1).StartsAt(10_ms);
  const v1::StartReport start = script.Report().start();
  // max(s - e) = 8, min(s + e) = 1; max(s + e) = 12, min(s - e) = -1. Drift adds 5 us in 10 ms.
  CHECK(start.skew_us() == Approx(10'000));
  CHECK(start.skew_low_us() == Approx(7'000).margin(20));
  CHECK(start.skew_high_us() == Approx(13'000).margin(20));
  CHECK(start.skew_percent() == Approx(0.1));
  CHECK(start.attempts() == 1);
}

TEST_CASE("a skew smaller than the clocks' errors may be none at all") {
  PhaseScript script;
  script.Worker(0).HasClock(5, 1e-3);
  script.Worker(1).HasClock(-7, 2e-3);
  script.Lane(0).StartsAt(0_ms);
  script.Lane(1).StartsAt(1_ms);
  CHECK(script.Report().start().skew_low_us() == 0);
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/summarize.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

constexpr double kHour = 3600;

PhaseScript TwoLanes(const std::string& operation = "read") {
  PhaseScript script(operation);
  script.Lane(0).Moves(5_GiB).EndsAt(5_s).InOps(1000);
  script.Lane(1).Moves(10_GiB).EndsAt(10_s).InOps(2000);
  return script;
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
  CHECK(report.name() == "read");
  CHECK(report.title() == "read");
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
  // 1 s to 4 s at 100, 50 and 100 MiB/s.
  CHECK(rates.all_active() == Approx(250 * kMiB).epsilon(0.01));
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

TEST_CASE("a lost worker is left out of the totals and told of") {
  PhaseScript script = TwoLanes();
  script.Lane(2).Moves(99_GiB).EndsAt(1_s);
  script.Worker(2).IsLost("connection reset").RunsOn("node9", "boot9");
  const v1::PhaseReport report = script.Report();
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.bytes() == 15_GiB);
  CHECK(report.workers_lost() == 1);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).client() == "node9");
  CHECK(report.errors(0).worker() == 2);
  CHECK(report.errors(0).lane() == -1);
  CHECK(report.errors(0).message() == "lost: connection reset");
  REQUIRE(report.clients_size() == 2);
  const v1::ClientPhaseReport& lost = report.clients(1);
  CHECK(std::isnan(lost.bytes_per_s()));
  CHECK(lost.bytes() == 0);
  CHECK(lost.workers(0).lost());
  CHECK(lost.workers(0).bytes() == 123);
  CHECK(report.clients(0).share_of_mean() == Approx(1));
}

TEST_CASE("a failed lane is left out of the totals and its error listed") {
  PhaseScript script = TwoLanes();
  script.Lane(2).Moves(1_GiB).EndsAt(1_s).FailsWith(28);
  script.Lane(3).SitsOut();
  const v1::PhaseReport report = script.Report();
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.stonewall().first_lane() == "node1 worker 0 lane 0");
  CHECK(report.lanes_failed() == 1);
  CHECK(report.lanes_sat_out() == 1);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).client() == "node1");
  CHECK(report.errors(0).worker() == 2);
  CHECK(report.errors(0).lane() == 2);
  CHECK(report.errors(0).errno_value() == 28);
  CHECK(report.errors(0).file() == "lane2");
  CHECK(report.errors(0).offset() == 4096);
  CHECK(report.lanes_bytes_per_s().min() == Approx(kGiB));  // the failed one is not in the spread
  const v1::LanePhaseReport& failed = report.clients(0).workers(2).lanes(0);
  CHECK(failed.failed());
  CHECK(failed.bytes() == 1_GiB);
  CHECK(failed.measured_bytes() == 0);
  CHECK(std::isnan(failed.bytes_per_s()));
}

TEST_CASE("a lane that did nothing counts as 0 in the spread") {
  PhaseScript script = TwoLanes();
  script.plan().set_stonewall(v1::STONEWALL_STOP);
  script.Lane(2).NeverStarts();
  const v1::PhaseReport report = script.Report();
  CHECK(report.lanes_bytes_per_s().min() == 0);
  CHECK(report.lanes_bytes_per_s().mean() == Approx(2 * kGiB / 3));
  CHECK(report.lanes_bytes_per_s().jain() == Approx(2.0 / 3));  // (1 + 1 + 0)^2 / (3 * 2)
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
  CHECK(std::isnan(report.throughput_bytes_per_s().all_active()));
  CHECK(report.start().skew_us() == Approx(0).margin(1e-3));
  CHECK(report.stragglers(0).find("node1 worker 2 lane 2: ") == 0);
  CHECK(report.stragglers(0).find("100 % under") != std::string::npos);
}

TEST_CASE("where everybody is lost there are no figures, and no crash") {
  PhaseScript script = TwoLanes();
  script.Worker(0).IsLost("gone");
  script.Worker(1).IsLost("gone");
  const v1::PhaseReport report = script.Report();
  CHECK(std::isnan(report.headline().bytes_per_s()));
  CHECK(std::isnan(report.throughput_bytes_per_s().parent()));
  CHECK(std::isnan(report.start().skew_us()));
  CHECK(std::isnan(report.stonewall().at_s()));
  CHECK(std::isnan(report.latency_us().p50()));
  CHECK(report.measured_bytes() == 0);
  CHECK(report.workers_lost() == 2);
}

TEST_CASE("an empty record gives an empty report") {
  const v1::PhaseReport report = SummarizePhase({}, {});
  CHECK(std::isnan(report.headline().bytes_per_s()));
  CHECK(report.clients_size() == 0);
}

TEST_CASE("clients' and workers' rates of the headline's window add up to the headline") {
  PhaseScript script("read", 2);
  script.Lane(0).Moves(5_GiB).EndsAt(5_s);
  script.Lane(1).Moves(10_GiB).EndsAt(10_s);
  script.Lane(2).Moves(30_GiB).EndsAt(10_s);
  script.Lane(3).Moves(10_GiB).EndsAt(10_s);
  script.Worker(1).RunsOn("node2", "boot2");
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).bytes_per_s() == Approx(2 * kGiB));
  CHECK(report.clients(1).bytes_per_s() == Approx(4 * kGiB));
  CHECK(report.clients(0).share_of_mean() == Approx(2.0 / 3));
  CHECK(report.clients(1).measured_bytes() == 20_GiB);
  CHECK(report.clients(1).workers(0).bytes_per_s() == Approx(4 * kGiB));
  CHECK(report.clients(1).workers(0).lanes_size() == 2);
  CHECK(report.headline().bytes_per_s() == Approx(6 * kGiB));
}

TEST_CASE("latency percentiles come from all lanes' ops together") {
  PhaseScript script;
  script.Lane(0).InOps(9900).OpsTake(100e-9);  // exact in the histogram below 128 ns
  script.Lane(1).InOps(100).OpsTake(1e-3);
  const v1::PhaseReport report = script.Report();
  const v1::Latency& latency = report.latency_us();
  CHECK(latency.count() == 10'000);
  CHECK(latency.p50() == Approx(0.1));
  CHECK(latency.p99() == Approx(0.1));  // rank 9900
  CHECK(latency.p99_9() == Approx(1000).epsilon(0.008));
  CHECK(latency.max() == Approx(1000));
  CHECK(latency.min() == Approx(0.1));
  CHECK(latency.mean() == Approx((9900 * 0.1 + 100 * 1000) / 10'000));
  CHECK(std::vector<std::string>(latency.unsure().begin(), latency.unsure().end()) ==
        std::vector<std::string>{"p99_9", "p99_99"});  // 10,000 * 0.001 < 100
  CHECK(report.clients(0).workers(1).lanes(0).p50_us() == Approx(1000).epsilon(0.008));
  CHECK(report.clients(0).latency_us().count() == 10'000);
}

TEST_CASE("a histogram that cannot be read is an error, not a smaller count") {
  PhaseScript script = TwoLanes();
  v1::PhaseRecord record = script.Record();
  record.mutable_workers(0)->mutable_lanes(0)->mutable_kinds(0)->mutable_latency()->set_count(7);
  const v1::PhaseReport report = SummarizePhase(script.Run(), record);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).lane() == 0);
  CHECK(report.latency_us().count() == 2000);
  CHECK(report.headline().bytes_per_s() == Approx(2 * kGiB));
}

TEST_CASE("reads and writes of a mixed phase have figures of their own") {
  PhaseScript script("random-mix");
  script.Lane(0).Moves(1000_MiB).EndsAt(10_s).InOps(1000).Writes(0.25);
  script.Lane(1).Moves(1000_MiB).EndsAt(10_s).InOps(1000).Writes(0.75);
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.by_kind().size() == 2);
  const v1::KindReport& reads = report.by_kind().at("read");
  CHECK(reads.bytes() == 1000_MiB);
  CHECK(reads.ops() == 1000);
  CHECK(reads.bytes_per_s() == Approx(100 * kMiB));
  CHECK(reads.ops_per_s() == Approx(100));
  CHECK(reads.latency_us().count() == 1000);
  CHECK(report.by_kind().at("write").bytes_per_s() == Approx(100 * kMiB));
}

TEST_CASE("the tool's share is its seconds of the lanes' ops time") {
  PhaseScript script = TwoLanes();
  script.Lane(0).ToolTakes(0.03_s);
  script.Lane(1).ToolTakes(0.12_s);
  for (const uint32_t worker : {0u, 1u}) script.Worker(worker).facts.set_clock_read_ns(10);
  const v1::ToolReport tool = script.Report().tool();
  CHECK(tool.share_percent() == Approx(1));  // 0.15 of 15 s
  CHECK(tool.ns_per_op() == Approx(0.15e9 / 3000));
  CHECK(tool.clock() == "tsc");
  CHECK(tool.clock_read_ns() == Approx(10));
}

TEST_CASE("rotated lanes that still work on their own client's files are counted") {
  PhaseScript script("read", 2);
  script.operation().set_rotate_clients(true);
  script.Worker(0).RunsOn("node1", "boot1");
  script.Worker(1).RunsOn("node1", "boot1");
  script.Worker(2).RunsOn("node2", "boot2");
  script.Lane(0).WorksOnFilesOf(4);  // worker 2, node2
  script.Lane(1).WorksOnFilesOf(5);
  script.Lane(2).WorksOnFilesOf(0);  // worker 0, the same client as worker 1
  script.Lane(3).WorksOnFilesOf(1);
  script.Lane(4).WorksOnFilesOf(2);
  script.Lane(5).WorksOnFilesOf(3);
  const v1::PhaseReport report = script.Report();
  CHECK(report.rotated());
  CHECK(report.lanes_on_own_client() == 2);
  script.operation().set_rotate_clients(false);
  CHECK_FALSE(script.Report().rotated());
  CHECK(script.Report().lanes_on_own_client() == 0);
}

TEST_CASE("steps are put together: slowest worker, all bytes, every outcome") {
  PhaseScript script = TwoLanes();
  for (const uint32_t worker : {0u, 1u}) {
    v1::StepResult step;
    step.set_name("drop-caches");
    step.set_seconds(worker == 0 ? 1 : 3);
    step.set_bytes(10);
    step.set_outcome(worker == 0 ? "posix_fadvise and drop_caches" : "posix_fadvise");
    script.Worker(worker).steps.push_back(step);
  }
  const v1::PhaseReport report = script.Report();
  REQUIRE(report.steps_size() == 1);
  CHECK(report.steps(0).seconds() == 3);
  CHECK(report.steps(0).bytes() == 20);
  CHECK(report.steps(0).outcome() == "posix_fadvise and drop_caches (1 worker); posix_fadvise (1 worker)");
}

TEST_CASE("a client's counters are taken once, its processes' own are added") {
  PhaseScript script = TwoLanes();
  for (const uint32_t worker : {0u, 1u}) {
    v1::HostDelta& host = script.Worker(worker).host;
    host.set_seconds(10);
    host.set_cpu_user_s(6);
    host.set_cpu_system_s(2);
    host.set_cpu_idle_s(12);
    host.set_nic_rx_bytes(1000);
    host.set_disk_read_bytes(100);
    (*host.mutable_nfs())[0].set_server_read_bytes(77);
  }
  const v1::ClientPhaseReport client = script.Report().clients(0);
  CHECK(client.cpu_percent() == Approx(40));
  CHECK(client.host_delta().nic_rx_bytes() == 1000);
  CHECK(client.host_delta().disk_read_bytes() == 200);
  CHECK(client.host_delta().nfs().at(0).server_read_bytes() == 77);
  for (const uint32_t worker : {0u, 1u})
    script.Worker(worker).facts.set_pid(4711);  // two workers of one process
  CHECK(script.Report().clients(0).host_delta().disk_read_bytes() == 100);
  script.Worker(1).host.clear_disk_read_bytes();
  CHECK_FALSE(script.Report().clients(0).host_delta().has_disk_read_bytes());
  script.Worker(0).host.clear_cpu_idle_s();
  CHECK(std::isnan(script.Report().clients(0).cpu_percent()));
}

TEST_CASE("a run's clients are boot ids, told apart where their hosts have one name") {
  PhaseScript script;
  script.Worker(0).RunsOn("node1", "a").HasClock(2, 1e-3);
  script.Worker(1).RunsOn("node1", "b");
  script.Worker(2).RunsOn("node1", "a").HasClock(2, 1e-3);
  script.Worker(3).RunsOn("pod7", "b");
  script.run.set_id("run7");
  script.run.mutable_problems()->Add()->set_message("disk full");
  const v1::PhaseRecord record = script.Record();
  const v1::RunReport report = SummarizeRun(script.Run(), &record);
  CHECK(report.schema() == "cluster-iobench result 1");
  CHECK(report.run().id() == "run7");
  CHECK(report.run().worker_count() == 4);
  CHECK(report.run().problems(0).message() == "disk full");
  CHECK(report.run().problems(0).worker() == -1);
  REQUIRE(report.clients_size() == 2);
  CHECK(report.clients(0).host() == "node1");
  CHECK(report.clients(0).boot_id() == "a");
  CHECK(report.clients(0).worker_count() == 2);
  CHECK(report.clients(0).clock_offset_ns() == Approx(2e9));
  CHECK(report.clients(0).clock_error_ns() == Approx(1e6).epsilon(0.01));
  CHECK_FALSE(report.clients(0).same_clock());
  CHECK(report.clients(0).targets(0).path() == "/mnt/test");
  CHECK(report.clients(0).targets(0).filesystem() == "ext4");
  CHECK(report.clients(1).host() == "node1 (2)");
  CHECK(report.clients(1).same_clock());
  CHECK(report.clients(1).clock_error_ns() == 0);
  REQUIRE(report.notes_size() == 1);
  CHECK(report.notes(0).find("pod7") != std::string::npos);
  CHECK(std::isnan(SummarizeRun(script.Run(), nullptr).clients(0).clock_offset_ns()));
}

}  // namespace
}  // namespace iobench

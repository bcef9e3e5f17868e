#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "common/histogram.h"
#include "coordinator/analysis/foreign/bonnie_figures.h"
#include "coordinator/analysis/foreign/fio_figures.h"
#include "coordinator/analysis/foreign/ior_figures.h"
#include "coordinator/analysis/foreign/iozone_cpu.h"

namespace iobench {
namespace {

v1::LanePhaseReport& AddLane(double begin_s, double end_s, double cpu_s, v1::PhaseReport& phase) {
  v1::ClientPhaseReport& client = phase.clients().empty() ? *phase.add_clients() : *phase.mutable_clients(0);
  v1::LanePhaseReport& lane = *client.add_workers()->add_lanes();
  lane.set_start_us(begin_s * 1e6);
  lane.set_end_s(end_s);
  lane.set_cpu_user_s(cpu_s / 4);
  lane.set_cpu_system_s(cpu_s - cpu_s / 4);
  return lane;
}

TEST_CASE("IOzone's utilization is the CPU time of all lanes over the longest time of one") {
  v1::PhaseReport phase;
  AddLane(0, 4, 2, phase).set_measured_bytes(10);
  AddLane(1, 4, 2, phase).set_measured_bytes(5);
  AddLane(0, 9, 9, phase).set_failed(true);
  const IozoneCpu cpu = IozoneCpuOf(phase);
  CHECK(cpu.wall_s == 4);
  CHECK(cpu.cpu_s == 4);
  CHECK(cpu.percent == 100);
  CHECK(LeastMovedBytes(phase) == 5);
  CHECK(LeastMovedOps(phase) == 0);
  CHECK(std::isnan(LeastMovedBytes(v1::PhaseReport())));
}

TEST_CASE("a lane's wall time is never less than its CPU time") {
  v1::PhaseReport phase;
  const IozoneCpu cpu = IozoneCpuOf(AddLane(0, 1, 2, phase));
  CHECK(cpu.wall_s == 2);
  CHECK(cpu.percent == 100);
  CHECK(IozoneCpuOf(v1::PhaseReport()).percent == 0);
}

TEST_CASE("Bonnie++ shows no figure of less than half a second, and the CPU time of the lanes' own time") {
  v1::PhaseReport phase;
  AddLane(0, 2, 1, phase);
  AddLane(0, 2, 0, phase);
  v1::ClientPhaseReport& client = *phase.mutable_clients(0);
  client.set_measured_ops(100);
  client.set_ops_per_s(50);
  BonnieFigure figure = BonnieFigureOf(client);
  CHECK(figure.state == BonnieFigure::State::kMeasured);
  CHECK(figure.cpu_percent == 25);  // 1 of 4 s
  CHECK(std::isnan(figure.max_latency_us));
  client.set_ops_per_s(201);
  CHECK(BonnieFigureOf(client).state == BonnieFigure::State::kTooShort);
  CHECK(BonnieFigureOf(v1::PhaseReport()).state == BonnieFigure::State::kNotRun);
}

const v1::Plan kNoPlan;

double PercentOf(const std::vector<FioBand>& bands, const std::string& label) {
  for (const FioBand& band : bands) {
    if (band.label == label) return band.percent;
  }
  return -1;
}

v1::Latency& CallIn(v1::PhaseReport& phase, const char* name, uint64_t count, double mean_us, double stddev_us) {
  v1::Latency& latency = *(*phase.mutable_by_kind())[name].mutable_latency_us();
  latency.set_count(count);
  latency.set_mean(mean_us);
  latency.set_stddev(stddev_us);
  latency.set_min(mean_us / 2);
  latency.set_max(mean_us * 2);
  latency.set_p50(mean_us);
  latency.set_p99_99(mean_us * 2);
  for (const auto unknown : {&v1::Latency::set_p90, &v1::Latency::set_p95, &v1::Latency::set_p99, &v1::Latency::set_p99_9})
    (latency.*unknown)(NAN);
  return latency;
}

TEST_CASE("fio's syncs are the flush calls without close") {
  v1::PhaseReport phase;
  (*phase.mutable_by_kind())["write"].mutable_latency_us()->set_count(4);
  CallIn(phase, "close", 7, 5, 0);
  CHECK(FioJobOf(kNoPlan, phase).syncs.spread_us.count() == 0);
  CHECK(FioJobOf(kNoPlan, phase).syncs.percentiles.empty());
  CallIn(phase, "fdatasync", 3, 100, 10);
  const FioLatencies one = FioJobOf(kNoPlan, phase).syncs;
  CHECK(one.spread_us.count() == 3);
  CHECK(one.spread_us.mean() == 100);
  REQUIRE(one.percentiles.size() == 2);
  CHECK(one.percentiles[0].percent == 50);
  CHECK(one.percentiles[0].ns == 100e3);
  CHECK(one.percentiles[1].ns == 200e3);
}

TEST_CASE("syncs of two kinds are one, whose percentiles nobody knows without their histograms") {
  v1::PhaseReport phase;
  (*phase.mutable_by_kind())["write"].mutable_latency_us()->set_count(4);
  CallIn(phase, "fdatasync", 3, 100, 0);  // 100, 100, 100
  CallIn(phase, "fsync", 1, 500, 0);
  const FioLatencies both = FioJobOf(kNoPlan, phase).syncs;
  CHECK(both.spread_us.count() == 4);
  CHECK(both.spread_us.mean() == 200);
  CHECK(both.spread_us.stddev() == Approx(std::sqrt(30000)));  // of 100, 100, 100, 500
  CHECK(both.spread_us.min() == 50);
  CHECK(both.spread_us.max() == 1000);
  CHECK(both.percentiles.empty());
}

double NsAt(const std::vector<FioPercentile>& percentiles, double percent) {
  for (const FioPercentile& each : percentiles) {
    if (each.percent == percent) return each.ns;
  }
  return NAN;
}

// Below 128 ns the histogram is exact.
void SetHistogram(const char* kind, const std::vector<uint64_t>& latencies_ns, v1::KindLatencies& latencies) {
  Histogram histogram;
  for (const uint64_t ns : latencies_ns) histogram.Add(ns);
  latencies.set_name(kind);
  *latencies.mutable_histogram() = histogram.ToProto();
}

void AddHistogram(const char* call, const std::vector<uint64_t>& latencies_ns, v1::PhaseReport& phase) {
  SetHistogram(call, latencies_ns, *phase.mutable_charts()->add_calls());
}

TEST_CASE("syncs of two kinds have the percentiles of both together") {
  v1::PhaseReport phase;
  (*phase.mutable_by_kind())["write"].mutable_latency_us()->set_count(4);
  CallIn(phase, "fdatasync", 3, 0.02, 0);
  CallIn(phase, "fsync", 2, 0.1, 0);
  CallIn(phase, "close", 1, 0.001, 0);
  AddHistogram("fsync", {90, 110}, phase);
  CHECK(FioJobOf(kNoPlan, phase).syncs.percentiles.empty());  // those of fdatasync are not known
  AddHistogram("fdatasync", {10, 20, 30}, phase);
  AddHistogram("close", {1}, phase);
  const std::vector<FioPercentile> both = FioJobOf(kNoPlan, phase).syncs.percentiles;  // of 10, 20, 30, 90, 110
  REQUIRE(both.size() == 17);
  CHECK(NsAt(both, 1) == 10);
  CHECK(NsAt(both, 40) == 20);
  CHECK(NsAt(both, 50) == 30);
  CHECK(NsAt(both, 80) == 90);
  CHECK(NsAt(both, 90) == 110);
  CHECK(NsAt(both, 99.99) == 110);
  phase.mutable_charts()->mutable_calls(0)->clear_histogram();
  CHECK(FioJobOf(kNoPlan, phase).syncs.percentiles.empty());
}

TEST_CASE("syncs of one kind have all percentiles of fio from their histogram") {
  v1::PhaseReport phase;
  (*phase.mutable_by_kind())["write"].mutable_latency_us()->set_count(4);
  CallIn(phase, "fdatasync", 4, 0.03, 0);
  AddHistogram("fdatasync", {10, 20, 30, 60}, phase);
  const std::vector<FioPercentile> percentiles = FioJobOf(kNoPlan, phase).syncs.percentiles;
  CHECK(percentiles.size() == 17);
  CHECK(NsAt(percentiles, 20) == 10);
  CHECK(NsAt(percentiles, 70) == 30);
}

TEST_CASE("fio's job of a phase has its percentiles and bands from the histogram, and samples of whole slices") {
  v1::PhaseReport phase;
  phase.set_headline_s(2.5);
  phase.set_measured_bytes(4096);
  phase.set_measured_ops(4);
  phase.set_lanes_wall_s(4);
  phase.set_lanes_cpu_user_s(1);
  phase.set_lanes_cpu_system_s(2);
  v1::KindReport& reads = (*phase.mutable_by_kind())["read"];
  reads.set_bytes_per_s(1000);
  reads.set_ops_per_s(10);
  reads.mutable_latency_us()->set_count(4);
  Histogram latencies;
  for (const uint64_t ns : {100, 5'000, 5'000'000}) latencies.Add(ns);
  latencies.Add(3'000'000'000);
  *phase.mutable_charts()->mutable_latency_histogram() = latencies.ToProto();
  phase.mutable_charts()->set_slice_s(1);
  for (const double rate : {8.0, 12.0, 1.0}) phase.mutable_charts()->add_ops_per_s(rate);  // the third is half a slice
  REQUIRE(IsFioJob(kNoPlan, phase));
  const FioJob job = FioJobOf(kNoPlan, phase);
  CHECK(job.read.bytes == 4096);
  CHECK(job.read.ops == 4);
  CHECK(job.write.ops == 0);
  CHECK(job.cpu_user_percent == 25);
  CHECK(job.cpu_system_percent == 50);
  CHECK(job.read.latencies.percentiles.size() == 17);
  CHECK(job.read.latencies.percentiles.front().ns == 100);
  CHECK(job.read.latencies.percentiles.back().ns == 3e9);
  CHECK(PercentOf(job.bands_ns, "250") == 25);
  CHECK(PercentOf(job.bands_us, "10") == 25);
  CHECK(PercentOf(job.bands_ms, "10") == 25);
  CHECK(PercentOf(job.bands_ms, ">=2000") == 25);
  CHECK(PercentOf(job.bands_us, "1000") == 0);
  CHECK(job.read.ops_samples.count == 2);
  CHECK(job.read.ops_samples.min == 8);
  CHECK(job.read.ops_samples.max == 12);
  CHECK(job.read.ops_samples.mean == 10);
  CHECK(job.read.ops_samples.stddev == Approx(2.8284271));
  CHECK(job.read.bytes_samples.count == 1);  // no slice is known
  CHECK(job.read.bytes_samples.mean == 1000);
}

TEST_CASE("of a mix, fio's job has the percentiles that each direction has, and nothing over time") {
  v1::PhaseReport phase;
  for (const char* kind : {"read", "write"}) {
    v1::KindReport& figures = (*phase.mutable_by_kind())[kind];
    figures.set_ops(*kind == 'r' ? 7 : 3);
    figures.mutable_latency_us()->set_count(7);
    figures.mutable_latency_us()->set_p99(2);
  }
  const FioJob job = FioJobOf(kNoPlan, phase);
  CHECK(job.read.ops == 7);
  CHECK(job.write.ops == 3);
  CHECK_FALSE(job.read.has_samples);
  CHECK(job.read.latencies.percentiles.size() == 6);
  CHECK(job.bands_us.empty());
  phase.set_metadata(true);
  CHECK_FALSE(IsFioJob(kNoPlan, phase));
}

TEST_CASE("of a mix with histograms, each direction of fio's job has all percentiles of its own ops") {
  v1::PhaseReport phase;
  const auto add = [&phase](const char* kind, uint64_t bytes, const std::vector<uint64_t>& latencies_ns) {
    v1::KindReport& figures = (*phase.mutable_by_kind())[kind];
    figures.set_bytes(bytes);
    figures.set_ops(latencies_ns.size());
    figures.set_ops_per_s(10);
    figures.mutable_latency_us()->set_count(latencies_ns.size());
    SetHistogram(kind, latencies_ns, *phase.mutable_charts()->add_kinds());
  };
  add("read", 300, {10, 20, 30});
  add("write", 200, {40, 60});
  add("update", 100, {90});
  add("stat", 0, {120, 120, 120});
  const FioJob job = FioJobOf(kNoPlan, phase);
  REQUIRE(job.read.latencies.percentiles.size() == 17);
  CHECK(NsAt(job.read.latencies.percentiles, 50) == 20);
  CHECK(NsAt(job.read.latencies.percentiles, 99) == 30);
  // An update ends with a write. A stat is neither.
  CHECK(job.write.bytes == 300);
  CHECK(job.write.ops == 3);
  CHECK(job.write.ops_per_s == 20);
  CHECK(job.write.latencies.spread_us.count() == 3);
  CHECK(NsAt(job.write.latencies.percentiles, 50) == 60);
  CHECK(NsAt(job.write.latencies.percentiles, 99.99) == 90);
  CHECK_FALSE(job.write.has_samples);
}

TEST_CASE("reads beside ops on names are no job alone: what is known of the phase is not known of them") {
  v1::PhaseReport phase;
  phase.set_measured_ops(9);
  (*phase.mutable_by_kind())["read"].set_ops(4);
  (*phase.mutable_by_kind())["stat"].set_ops(5);
  CHECK(FioJobOf(kNoPlan, phase).read.ops == 4);
  CHECK_FALSE(FioJobOf(kNoPlan, phase).read.has_samples);
  phase.mutable_by_kind()->erase("stat");
  (*phase.mutable_by_kind())["fsync"].set_ops(5);
  CHECK(FioJobOf(kNoPlan, phase).read.ops == 9);
  CHECK(FioJobOf(kNoPlan, phase).read.has_samples);
}

// "ns 2": the unit and label of the only band that has ops.
std::string BandOf(uint64_t latency_ns) {
  Histogram histogram;
  histogram.Add(latency_ns);
  v1::PhaseReport phase;
  *phase.mutable_charts()->mutable_latency_histogram() = histogram.ToProto();
  const FioJob job = FioJobOf(kNoPlan, phase);
  std::string found;
  for (const auto& [unit, bands] :
       {std::pair("ns ", &job.bands_ns), std::pair("us ", &job.bands_us), std::pair("ms ", &job.bands_ms)}) {
    for (const FioBand& band : *bands) {
      if (band.percent == 100) found += unit + band.label;
    }
  }
  return found;
}

TEST_CASE("a band of fio holds the latencies below its label, in whole ns, us or ms") {
  constexpr uint64_t kEdges[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
  uint64_t ns_of_unit = 1;
  for (const std::string unit : {"ns ", "us ", "ms "}) {
    for (size_t i = 0; i < std::size(kEdges); ++i) {
      INFO(unit << kEdges[i]);
      CHECK(BandOf(kEdges[i] * ns_of_unit - 1) == unit + std::to_string(kEdges[i]));
      if (i + 1 < std::size(kEdges)) CHECK(BandOf(kEdges[i] * ns_of_unit) == unit + std::to_string(kEdges[i + 1]));
    }
    ns_of_unit *= 1000;
  }
  CHECK(BandOf(0) == "ns 2");
  CHECK(BandOf(1'000) == "us 2");
  CHECK(BandOf(1'000'000) == "ms 2");
  CHECK(BandOf(1'000'000'000) == "ms 2000");
  CHECK(BandOf(1'999'999'999) == "ms 2000");
  CHECK(BandOf(2'000'000'000) == "ms >=2000");
}

v1::Plan PlanOf(const std::vector<std::string>& operations) {
  v1::Plan plan;
  v1::Phase& phase = *plan.add_phases();
  for (const std::string& name : operations) phase.add_assignments()->mutable_operation()->set_name(name);
  return plan;
}

// Reads in slices of a second, of which the first two are the warm-up.
v1::PhaseReport ReadsInSlices() {
  v1::PhaseReport phase;
  phase.set_operation("read");
  phase.set_duration_s(5);
  phase.set_headline_s(3);
  (*phase.mutable_by_kind())["read"].set_ops(60);
  phase.mutable_charts()->set_slice_s(1);
  for (const double rate : {1000.0, 500.0, 10.0, 20.0, 30.0}) {
    phase.mutable_charts()->add_ops_per_s(rate);
    phase.mutable_charts()->add_bytes_per_s(rate * 4096);
  }
  return phase;
}

TEST_CASE("fio's samples and runtime are those after the warm-up") {
  v1::Plan plan = PlanOf({"read"});
  plan.mutable_phases(0)->mutable_stop()->set_time_s(5);
  plan.mutable_phases(0)->mutable_stop()->set_warmup_s(2);
  v1::PhaseReport phase = ReadsInSlices();
  const FioJob job = FioJobOf(plan, phase);
  CHECK(job.read.ops_samples.count == 3);
  CHECK(job.read.ops_samples.min == 10);
  CHECK(job.read.ops_samples.mean == 20);
  CHECK(job.read.bytes_samples.max == 30 * 4096);
  CHECK(job.time_based);
  CHECK(job.runtime_s == 3);
  CHECK(job.ramp_s == 2);
  phase.mutable_headline()->set_name("stonewalled");
  phase.mutable_stonewall()->set_at_s(4);
  CHECK(FioJobOf(plan, phase).read.ops_samples.max == 20);
}

TEST_CASE("fio's samples end with the ops, where the headline counts a flush too") {
  v1::PhaseReport phase = ReadsInSlices();
  phase.set_headline_s(5);
  phase.mutable_headline()->set_name("full");
  phase.mutable_regions_max_s()->set_ops(3.5);
  const FioSamples samples = FioJobOf(PlanOf({"read"}), phase).read.ops_samples;
  CHECK(samples.count == 3);
  CHECK(samples.min == 10);
}

TEST_CASE("a phase of which nothing was measured is a job if it was to read or write records") {
  v1::PhaseReport phase;
  phase.set_operation("random-read");
  REQUIRE(IsFioJob(kNoPlan, phase));
  const FioJob reads = FioJobOf(kNoPlan, phase);
  CHECK(reads.reads);
  CHECK(reads.random);
  CHECK_FALSE(reads.writes);
  CHECK(reads.read.ops == 0);
  CHECK(reads.read.has_samples);
  CHECK_FALSE(reads.write.has_samples);
  phase.set_operation("create");
  CHECK_FALSE(IsFioJob(kNoPlan, phase));
  phase.set_operation("stat+pwrite");
  CHECK_FALSE(IsFioJob(kNoPlan, phase));
  CHECK(IsFioJob(PlanOf({"stat", "pwrite"}), phase));
  phase.set_operation("stat+mkdir");
  CHECK_FALSE(IsFioJob(PlanOf({"stat", "mkdir"}), phase));
}

TEST_CASE("a job of several operations does what any of them does, with the options of the first on records") {
  v1::PhaseReport phase;
  phase.set_operation("stat+read+random-write");
  const v1::Plan plan = PlanOf({"stat", "read", "random-write"});
  const FioJob job = FioJobOf(plan, phase);
  CHECK(job.reads);
  CHECK(job.writes);
  CHECK(job.random);
  CHECK_FALSE(job.read.has_samples);
  CHECK(RecordOperationOf(plan, phase).name() == "read");
  CHECK(RecordOperationOf(kNoPlan, phase).name().empty());
}

TEST_CASE("a job with errors has the first errno that is known, and one without any has EIO") {
  v1::PhaseReport phase;
  CHECK(FioJobOf(kNoPlan, phase).error == 0);
  phase.add_failed_ops()->set_count(3);  // short
  CHECK(FioJobOf(kNoPlan, phase).error == EIO);
  phase.add_failed_ops()->set_errno_value(ENOSPC);
  CHECK(FioJobOf(kNoPlan, phase).error == ENOSPC);
  phase.add_errors()->set_message("lost");
  CHECK(FioJobOf(kNoPlan, phase).error == ENOSPC);
  phase.add_errors()->set_errno_value(ESTALE);
  CHECK(FioJobOf(kNoPlan, phase).error == ESTALE);
  phase.clear_failed_ops();
  phase.mutable_errors()->RemoveLast();
  CHECK(FioJobOf(kNoPlan, phase).error == EIO);
}

TEST_CASE("IOR's summary is of the repetitions that are whole, with a deviation of 0 for one") {
  v1::RunReport report;
  report.mutable_run()->mutable_plan()->add_phases()->set_name("write");
  for (const double rate : {10.0, 30.0, 1000.0}) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_name("write");
    phase.set_index(static_cast<uint32_t>(report.phases_size() - 1));
    phase.set_repetition(phase.index());
    phase.set_lane_count(6);
    phase.set_bytes_per_lane(100);
    phase.add_clients();
    phase.add_clients();
    phase.mutable_headline()->set_bytes_per_s(rate);
  }
  report.mutable_phases(2)->set_not_whole("1 lane failed");
  std::vector<RepeatedPhase> phases = RepeatedPhasesOf(report);
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].repetitions.size() == 3);
  CHECK(phases[0].bytes_per_s.count == 2);
  CHECK(phases[0].bytes_per_s.max == 30);
  CHECK(phases[0].bytes_per_s.min == 10);
  CHECK(phases[0].bytes_per_s.mean == 20);
  CHECK(phases[0].bytes_per_s.stddev == Approx(14.142136));
  CHECK(phases[0].tasks_per_client == 3);
  CHECK(phases[0].all_bytes == 600);
  report.mutable_phases(1)->set_not_whole("interrupted");
  CHECK(RepeatedPhasesOf(report)[0].bytes_per_s.stddev == 0);
  report.mutable_phases(0)->set_not_whole("interrupted");
  CHECK(RepeatedPhasesOf(report)[0].bytes_per_s.count == 0);
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/charts/latency_map.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/histogram.h"
#include "common/latency_slices.h"
#include "coordinator/analysis/report_builder.h"
#include "coordinator/analysis/summarize.h"
#include "tests/support/phase_script.h"

namespace iobench {
namespace {

struct Cell {
  uint32_t slice, bin;
  uint64_t ops;
};

v1::LatencySlices Slices(int64_t begin_worker_ns, double slice_s, const std::vector<Cell>& cells) {
  v1::LatencySlices slices;
  slices.set_begin_worker_ns(begin_worker_ns);
  slices.set_slice_ns(std::llround(slice_s * 1e9));
  uint32_t previous = 0;
  for (const Cell& cell : cells) {
    const uint32_t number = cell.slice * LatencySlices::kBinCount + cell.bin;
    slices.add_cell_gaps(number - previous);
    slices.add_counts(cell.ops);
    previous = number;
  }
  return slices;
}

// Lanes on one client each, from 0 to 8 s.
struct Phase {
  PhaseScript script;
  v1::RunRecord run;
  v1::PhaseRecord record;

  explicit Phase(uint32_t lanes = 1, double clock_s = 0) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      script.Lane(lane).Moves(100_MiB).EndsAt(8_s).InOps(100);
      if (clock_s != 0) script.Worker(lane).HasClock(clock_s, 1e-6, {0, 8});
    }
    run = script.Run();
    record = script.Record();
  }
  v1::LatencySlices& SlicesOf(int lane) {
    return *record.mutable_workers(lane)->mutable_lanes(0)->mutable_latency_slices();
  }
  v1::PhaseReport Report() const { return SummarizePhase(run, record, Charts::kFilledIn); }
  v1::LatencyMap Map() const { return Report().charts().latency(); }
};

std::vector<uint64_t> OpsOf(const v1::LatencyMap& map) {
  return {map.ops().begin(), map.ops().end()};
}
uint64_t SumOf(const v1::LatencyMap& map) {
  return std::accumulate(map.ops().begin(), map.ops().end(), uint64_t{0});
}

TEST_CASE("the latency map of one lane has its slices and the range of its bins") {
  Phase phase;
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 5, 7}, {0, 7, 1}, {3, 6, 2}});
  const v1::LatencyMap map = phase.Map();
  CHECK(map.slice_count() == 4);
  CHECK(map.slice_s() == 2);
  CHECK(map.lowest_us() == 0.384);
  CHECK(std::vector<double>(map.bin_upper_us().begin(), map.bin_upper_us().end()) ==
        std::vector<double>{0.512, 0.768, 1.024});
  CHECK(OpsOf(map) == std::vector<uint64_t>{7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0});
}

TEST_CASE("slices of a lane on another clock come to the common axis") {
  Phase phase(1, 3600);
  phase.SlicesOf(0) = Slices(CoordAt(3602.0001).ns, 2, {{0, 9, 5}, {2, 9, 1000}});
  const v1::LatencyMap map = phase.Map();
  REQUIRE(map.slice_count() == 4);
  CHECK(OpsOf(map) == std::vector<uint64_t>{0, 5, 0, 1000});
}

TEST_CASE("the lane with the longest slices sets those of the map, and no op is lost") {
  Phase phase(2);
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 9, 10}, {1, 9, 10}, {2, 9, 10}, {3, 9, 10}});
  // From 1 to 2.5 s, from 2.5 s to 4 s, from 4 to 5.5 s.
  phase.SlicesOf(1) = Slices(CoordAt(1).ns, 1.5, {{0, 9, 9}, {1, 9, 90}, {2, 9, 900}});
  const v1::LatencyMap map = phase.Map();
  CHECK(map.slice_s() == 2);
  CHECK(OpsOf(map) == std::vector<uint64_t>{10 + 6, 10 + 3 + 90, 10 + 900, 10});
}

TEST_CASE("ops are divided in proportion to the time and rounded, also single ones") {
  Phase phase(2);
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 9, 1}});
  phase.SlicesOf(1) = Slices(CoordAt(0.5).ns, 2, {{0, 9, 1}, {1, 9, 3}, {2, 9, UINT64_MAX / 4}});
  const v1::LatencyMap map = phase.Map();
  const std::vector<uint64_t> ops = OpsOf(map);
  REQUIRE(ops.size() == 4);
  CHECK(ops[0] == 2);
  CHECK(ops[1] == 2);
  CHECK(ops[2] > 3 * (UINT64_MAX / 16));
  CHECK(SumOf(map) == 5 + UINT64_MAX / 4);
}

TEST_CASE("slices shorter than a chart can show are joined: a phase has at most 64") {
  Phase phase;
  std::vector<Cell> cells;
  for (uint32_t slice = 0; slice < 64; ++slice) cells.push_back({slice, 3, 1});
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 0.0125, cells);  // the rest of the phase was a flush
  const v1::LatencyMap map = phase.Map();
  CHECK(map.slice_count() == 64);
  CHECK(map.slice_s() == 0.125);
  CHECK(SumOf(map) == 64);
  CHECK(map.ops(0) == 10);
  CHECK(map.ops(6) == 4);
  CHECK(map.ops(63) == 0);
}

TEST_CASE("ops that a clock's error puts outside the phase are in its first or last slice") {
  Phase phase;
  phase.SlicesOf(0) = Slices(CoordAt(-2.1).ns, 2, {{0, 3, 5}, {1, 3, 100}, {6, 3, 7}});
  const v1::LatencyMap map = phase.Map();
  CHECK(OpsOf(map) == std::vector<uint64_t>{105, 0, 0, 7});
}

TEST_CASE("records without slices give no map and no error") {
  const Phase phase;
  const v1::PhaseReport report = phase.Report();
  CHECK_FALSE(report.charts().has_latency());
  CHECK(report.errors().empty());
  CHECK(report.charts().percentiles_size() > 0);
  CHECK(report.charts().distribution_size() == 1);
}

TEST_CASE("damaged slices are left out and listed; the others stay") {
  Phase phase(2);
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 9, 10}});
  SECTION("a cell out of range") {
    phase.SlicesOf(1) = Slices(CoordAt(0).ns, 2, {{64, 0, 5}});
  }
  SECTION("a slice that is longer than the phase can have had") {
    phase.SlicesOf(1) = Slices(CoordAt(0).ns, 1e6, {{0, 9, 5}});
  }
  SECTION("no length") {
    phase.SlicesOf(1) = Slices(CoordAt(0).ns, 0, {{0, 9, 5}});
  }
  const v1::PhaseReport report = phase.Report();
  CHECK(SumOf(report.charts().latency()) == 10);
  CHECK(report.charts().latency().slice_count() == 4);
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).worker() == 1);
  CHECK(report.errors(0).message().find("its latencies over time are left out: latency slices: ") == 0);
}

TEST_CASE("only a whole report has charts") {
  const Phase phase;
  ReportBuilder builder(phase.run);
  builder.Begin(nullptr);
  CHECK_FALSE(builder.Add(phase.record).has_charts());
  CHECK(builder.Add(FinishPhase(phase.run, phase.record, Charts::kFilledIn)).charts().bytes_per_s_size() == 100);
  REQUIRE(builder.report().phases_size() == 2);
  CHECK_FALSE(builder.report().phases(1).has_charts());
}

v1::LatencySlices& SlicesOfFsync(Phase& phase, int lane) {
  v1::LaneResult& result = *phase.record.mutable_workers(lane)->mutable_lanes(0);
  if (result.calls().empty()) result.add_calls()->set_kind(v1::OP_FSYNC);
  return *result.mutable_calls(0)->mutable_slices();
}

TEST_CASE("a flush call has a map of its own, beside that of the ops") {
  Phase phase(2);
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 5, 7}});
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{0, 20, 30}, {3, 21, 4}});
  SlicesOfFsync(phase, 1) = Slices(CoordAt(0).ns, 2, {{3, 21, 30}});
  const v1::PhaseCharts charts = phase.Report().charts();
  CHECK(OpsOf(charts.latency()) == std::vector<uint64_t>{7, 0, 0, 0});
  REQUIRE(charts.calls_size() == 1);
  CHECK(charts.calls(0).name() == "fsync");
  CHECK(charts.calls(0).latency().slice_s() == 2);
  CHECK(OpsOf(charts.calls(0).latency()) == std::vector<uint64_t>{30, 0, 0, 0, 0, 0, 0, 34});
}

TEST_CASE("calls of which there are fewer than slices have no map") {
  Phase phase;
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{0, 20, kMinCallsForMap - 1}});
  CHECK(phase.Report().charts().calls().empty());
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{0, 20, kMinCallsForMap}});
  CHECK(phase.Report().charts().calls_size() == 1);
}

TEST_CASE("each flush call has all its latencies as one histogram, without those of lanes that do not count") {
  PhaseScript script;
  script.Lane(0).Moves(100_MiB).EndsAt(8_s).InOps(100).FlushCalls(v1::OP_FSYNC, 100, 3).FlushCalls(v1::OP_CLOSE, 90, 1);
  script.Lane(1).Moves(100_MiB).EndsAt(8_s).InOps(100).FlushCalls(v1::OP_FSYNC, 50, 1);
  script.Lane(2).EndsAt(8_s).FlushCalls(v1::OP_FSYNC, 7, 5).FailsWith(EIO);
  const v1::PhaseReport report = SummarizePhase(script.Run(), script.Record(), Charts::kFilledIn);
  REQUIRE(report.charts().calls_size() == 2);
  const v1::KindLatencies& fsync = report.charts().calls(0);
  CHECK(fsync.name() == "fsync");
  CHECK_FALSE(fsync.has_latency());  // too few for a map
  CHECK(fsync.histogram().count() == 4);
  CHECK(fsync.histogram().count() == report.by_kind().at("fsync").ops());
  CHECK(fsync.histogram().sum_ns() == 350);
  CHECK(fsync.histogram().min_ns() == 50);
  CHECK(fsync.histogram().max_ns() == 100);
  CHECK(report.charts().calls(1).name() == "close");
  CHECK(report.charts().calls(1).histogram().count() == 1);
  CHECK(report.charts().latency_histogram().count() == 200);
}

TEST_CASE("each kind of ops of a mix has all its latencies as one histogram; a single kind has those of the phase") {
  PhaseScript script;
  script.Lane(0).Moves(100_MiB).EndsAt(8_s).InOps(100).Writes(0.25).FlushCalls(v1::OP_FSYNC, 100, 1);
  script.Lane(1).Moves(100_MiB).EndsAt(8_s).InOps(60);
  const v1::PhaseReport report = SummarizePhase(script.Run(), script.Record(), Charts::kFilledIn);
  REQUIRE(report.charts().kinds_size() == 2);
  for (const v1::KindLatencies& of_kind : report.charts().kinds()) {
    INFO(of_kind.name());
    CHECK(of_kind.histogram().count() == (of_kind.name() == "read" ? 75 + 60 : 25));
    CHECK(of_kind.histogram().count() == report.by_kind().at(of_kind.name()).ops());
    CHECK_FALSE(of_kind.has_latency());
  }
  CHECK(report.charts().calls_size() == 1);
  const Phase of_one_kind;
  CHECK(of_one_kind.Report().charts().kinds().empty());
}

TEST_CASE("a flush call whose latencies are damaged keeps its map, and the reverse") {
  Phase phase;
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{0, 20, 100}});
  v1::KindResult& fsync = *phase.record.mutable_workers(0)->mutable_lanes(0)->mutable_calls(0);
  fsync.set_ops(100);
  v1::Histogram& latencies = *fsync.mutable_latency();
  latencies.add_index_gaps(1 << 20);
  latencies.add_counts(100);
  const v1::PhaseReport of_map = phase.Report();
  REQUIRE(of_map.charts().calls_size() == 1);
  CHECK(of_map.charts().calls(0).has_latency());
  CHECK_FALSE(of_map.charts().calls(0).has_histogram());
  Histogram whole;
  whole.Add(100);
  latencies = whole.ToProto();
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{64, 0, 500}});
  const v1::PhaseReport of_histogram = phase.Report();
  REQUIRE(of_histogram.charts().calls_size() == 1);
  CHECK_FALSE(of_histogram.charts().calls(0).has_latency());
  CHECK(of_histogram.charts().calls(0).histogram().count() == 1);
}

TEST_CASE("damaged slices of a flush call are listed under its name, and the ops keep theirs") {
  Phase phase;
  phase.SlicesOf(0) = Slices(CoordAt(0).ns, 2, {{0, 9, 10}});
  SlicesOfFsync(phase, 0) = Slices(CoordAt(0).ns, 2, {{64, 0, 500}});
  const v1::PhaseReport report = phase.Report();
  CHECK(SumOf(report.charts().latency()) == 10);
  CHECK(report.charts().calls().empty());
  REQUIRE(report.errors_size() == 1);
  CHECK(report.errors(0).message().find("its fsync latencies over time are left out: latency slices: ") == 0);
}

}  // namespace
}  // namespace iobench

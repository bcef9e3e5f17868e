#include "coordinator/analysis/charts/throughput_series.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <string>

#include "tests/support/phase_script.h"

namespace iobench {
namespace {

v1::PhaseReport WithCharts(const PhaseScript& script) {
  return SummarizePhase(script.Run(), script.Record(), Charts::kFilledIn);
}

template <typename Values>
double SumOf(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST_CASE("throughput over time: two lanes, of which one ends after half of the phase") {
  const v1::PhaseReport report = WithCharts(TwoLanes());  // 1 GiB/s each; 5 s, 10 s
  const v1::PhaseCharts& charts = report.charts();
  REQUIRE(charts.bytes_per_s_size() == 240);
  CHECK(charts.slice_s() == Approx(10.0 / 240));
  CHECK(charts.bytes_per_s(0) == Approx(2 * kGiB));
  CHECK(charts.bytes_per_s(119) == Approx(2 * kGiB));
  CHECK(charts.bytes_per_s(120) == Approx(kGiB));
  CHECK(charts.bytes_per_s(239) == Approx(kGiB));
  CHECK(charts.ops_per_s(0) == Approx(400));
  CHECK(SumOf(charts.bytes_per_s()) * charts.slice_s() == Approx(15 * kGiB).epsilon(1e-12));
  CHECK(SumOf(charts.ops_per_s()) * charts.slice_s() == Approx(3000).epsilon(1e-12));
}

TEST_CASE("each client has its series, in the order of the report, and they add up to the whole") {
  PhaseScript script;
  script.Worker(0).RunsOn("b", "boot b");
  script.Worker(1).RunsOn("idle", "boot idle").has_lanes = false;
  script.Worker(2).RunsOn("a", "boot a");
  script.Worker(3).RunsOn("b", "boot b");
  script.Lane(0).Moves(100_MiB).EndsAt(4_s).InOps(100);
  script.Lane(2).Moves(300_MiB).EndsAt(4_s).InOps(300);
  script.Lane(3).Moves(100_MiB).EndsAt(2_s).InOps(100);
  const v1::PhaseReport report = WithCharts(script);
  const v1::PhaseCharts& charts = report.charts();
  REQUIRE(report.clients_size() == 2);
  REQUIRE(report.clients(0).host() == "b");
  REQUIRE(charts.clients_size() == 2);
  CHECK(SumOf(charts.clients(0).per_s()) * charts.slice_s() == Approx(200 * kMiB).epsilon(1e-6));
  CHECK(SumOf(charts.clients(1).per_s()) * charts.slice_s() == Approx(300 * kMiB).epsilon(1e-6));
  for (int slice = 0; slice < charts.bytes_per_s_size(); ++slice) {
    CHECK(charts.clients(0).per_s(slice) + charts.clients(1).per_s(slice) ==
          Approx(charts.bytes_per_s(slice)).epsilon(1e-6));
  }
}

TEST_CASE("the series of metadata operations are in ops/s") {
  PhaseScript script("stat");
  script.Lane(0).Moves(0).EndsAt(2_s).InOps(1000);
  const v1::PhaseCharts charts = WithCharts(script).charts();
  REQUIRE(charts.clients_size() == 1);
  CHECK(charts.clients(0).per_s(0) == Approx(500));
  CHECK(SumOf(charts.bytes_per_s()) == 0);
}

TEST_CASE("a flush is part of the axis, and nothing moves in it; an unmeasured rest is in no slice") {
  PhaseScript script("write");
  script.plan().mutable_region()->set_fsync(true);
  script.Lane(0).Writes().Moves(80_MiB).EndsAt(3_s).InOps(80).Fsyncs(1_s).FinishesUnmeasured(40_MiB);
  const v1::PhaseCharts charts = WithCharts(script).charts();
  REQUIRE(charts.bytes_per_s_size() == 80);
  CHECK(charts.slice_s() == Approx(0.05));
  CHECK(charts.bytes_per_s(59) == Approx(80 * kMiB / 3));
  CHECK(charts.bytes_per_s(60) == Approx(0).margin(1));
  CHECK(SumOf(charts.bytes_per_s()) * charts.slice_s() == Approx(80 * kMiB));
}

TEST_CASE("slices are no shorter than what the timelines and the clocks resolve") {
  PhaseScript script;
  script.Lane(0).Moves(4_GiB).EndsAt(8_s).InOps(4);
  script.Lane(1).Moves(2_GiB).EndsAt(8_s).InOps(2);
  CHECK(WithCharts(script).charts().bytes_per_s_size() == 4);
  script.Lane(0).InOps(1000);
  CHECK(WithCharts(script).charts().bytes_per_s_size() == 240);
  script.Worker(0).HasClock(100, 0.1);  // known to 0.1 s and a bit more at the end: intervals of 0.2 s
  CHECK(WithCharts(script).charts().bytes_per_s_size() == 38);
}

TEST_CASE("many clients have fewer slices") {
  PhaseScript script;
  for (uint32_t n = 0; n < 201; ++n) {
    script.Worker(n).RunsOn("host" + std::to_string(n), "boot" + std::to_string(n));
    script.Lane(n).Moves(300_MiB).EndsAt(3_s).InOps(300);
  }
  const v1::PhaseCharts charts = WithCharts(script).charts();
  CHECK(charts.clients_size() == 201);
  CHECK(charts.bytes_per_s_size() == 120);
}

// Two slices of 5 s.
SlicedAmounts Amounts(const std::vector<AlignedPoint>& timeline) {
  SlicedAmounts amounts(2);
  AddProgress({CoordAt(0), CoordAt(10)}, timeline, amounts);
  return amounts;
}

void CheckSlices(const std::vector<double>& slices, double first, double second) {
  REQUIRE(slices.size() == 2);
  CHECK(slices[0] == Approx(first));
  CHECK(slices[1] == Approx(second));
}

TEST_CASE("what ends between two points is spread over the time between them") {
  const SlicedAmounts amounts = Amounts({{CoordAt(0), 0, 0}, {CoordAt(4), 40, 4}, {CoordAt(8), 80, 12}});
  CheckSlices(amounts.bytes, 50, 30);
  CheckSlices(amounts.ops, 6, 6);
  CheckSlices(Amounts({{CoordAt(5), 0, 0}, {CoordAt(5), 7, 1}}).bytes, 0, 7);
}

TEST_CASE("nothing is lost at the ends of the axis, nor gained from a damaged timeline") {
  CheckSlices(Amounts({{CoordAt(-2), 0, 0}, {CoordAt(-1), 3, 1}, {CoordAt(10), 7, 2}}).bytes, 5, 2);
  CheckSlices(Amounts({{CoordAt(8), 0, 0}, {CoordAt(12), 3, 1}}).bytes, 0, 3);
  CheckSlices(
      Amounts({{CoordAt(0), 0, 0}, {CoordAt(9), 9, 9}, {CoordAt(4), 99, 99}, {CoordAt(10), 5, 10}}).bytes, 5,
      4);
  CheckSlices(Amounts({}).bytes, 0, 0);
}

TEST_CASE("a phase in which no lane did anything has empty charts") {
  PhaseScript script;
  script.Lane(0).NeverStarts();
  const v1::PhaseReport report = WithCharts(script);
  CHECK(report.has_charts());
  CHECK(report.charts().ByteSizeLong() == 0);
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/charts/latency_curve.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

namespace iobench {
namespace {

// Latencies of 1, 2, 3 … us, one op each.
Histogram Ramp(uint64_t count) {
  Histogram histogram;
  for (uint64_t us = 1; us <= count; ++us) histogram.Add(us * 1000);
  return histogram;
}

std::vector<double> PercentsOf(const Histogram& histogram) {
  std::vector<double> percents;
  for (const v1::PercentilePoint& point : PercentileCurve(histogram)) percents.push_back(point.percent());
  return percents;
}

TEST_CASE("the percentile curve goes as far as there are ops beyond it, and ends with the max") {
  CHECK(PercentsOf(Ramp(0)).empty());
  CHECK(PercentsOf(Ramp(1)) == std::vector<double>{100});
  CHECK(PercentsOf(Ramp(2)) == std::vector<double>{50, 100});
  CHECK(PercentsOf(Ramp(999)) == std::vector<double>{50, 75, 90, 95, 99, 99.5, 100});
  CHECK(PercentsOf(Ramp(1000)) == std::vector<double>{50, 75, 90, 95, 99, 99.5, 99.9, 100});
  CHECK(PercentsOf(Ramp(1'000'000)).back() == 100);
  CHECK(PercentsOf(Ramp(1'000'000)).size() == 14);
  CHECK(PercentsOf(Ramp(999'999)).size() == 13);
}

TEST_CASE("a point of the curve is the percentile, unsure with fewer than 100 ops beyond it") {
  const auto curve = PercentileCurve(Ramp(1000));
  const v1::PercentilePoint& p90 = curve[2];
  CHECK(p90.percent() == 90);
  CHECK(p90.us() == Approx(900).epsilon(0.008));
  CHECK_FALSE(p90.unsure());
  CHECK(curve[3].unsure());  // 95: 50 ops beyond it
  const v1::PercentilePoint& max = curve[7];
  CHECK(max.us() == 1000);
  CHECK_FALSE(max.unsure());
}

TEST_CASE("the distribution has eight bins per octave and no empty ones") {
  Histogram histogram;
  histogram.Add(127);                                              // the last 16 ns below 128
  for (const uint64_t ns : {1024, 1151, 1152}) histogram.Add(ns);  // an eighth of 1024 is 128
  histogram.Add(uint64_t{5} << 42);
  histogram.Add(uint64_t{3} << 42);
  v1::PhaseCharts charts;
  FillDistribution(histogram, charts);
  REQUIRE(charts.distribution_size() == 4);
  CHECK(charts.distribution(0).lower_us() == 0.112);
  CHECK(charts.distribution(0).upper_us() == 0.128);
  CHECK(charts.distribution(0).ops() == 1);
  CHECK(charts.distribution(1).lower_us() == 1.024);
  CHECK(charts.distribution(1).upper_us() == 1.152);
  CHECK(charts.distribution(1).ops() == 2);
  CHECK(charts.distribution(2).lower_us() == 1.152);
  CHECK(charts.distribution(2).ops() == 1);
  CHECK(charts.distribution(3).lower_us() == Approx(4'398'046'511.104));  // 2^42 ns
  CHECK(charts.distribution(3).upper_us() == Approx(5 * 4'398'046'511.104));
  CHECK(charts.distribution(3).ops() == 2);
}

TEST_CASE("a phase without ops has no distribution") {
  v1::PhaseCharts charts;
  FillDistribution(Histogram(), charts);
  CHECK(charts.distribution().empty());
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/capacity/load_curve.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

LoadPoint AtLoad(double per_s, double mean_us) {
  return {.offered_per_s = per_s, .achieved_per_s = per_s, .mean_us = mean_us};
}

// M/M/1 of 1,000 ops/s: R = 1 / (1000 - X).
std::vector<LoadPoint> QueueCurve() {
  std::vector<LoadPoint> points;
  for (double load = 100; load < 1000; load += 100) points.push_back(AtLoad(load, 1e6 / (1000 - load)));
  return points;
}

TEST_CASE("more clients only wait from peak times unloaded response time on") {
  CHECK(SaturationN(10'000, 800) == Approx(8));
}

TEST_CASE("the knee of an M/M/1 queue is at half of its capacity by Kleinrock") {
  const auto knee = KneeOf(QueueCurve());  // X / R = X (1000 - X)
  REQUIRE(knee.has_value());
  CHECK(QueueCurve()[knee->kleinrock].achieved_per_s == 500);
  // Kneedle: (X - 100) / 800 - (1 / (1000 - X) - 1 / 900) / (1 / 100 - 1 / 900) is 0.5625 at 700, 0.45 at 500.
  REQUIRE(knee->kneedle.has_value());
  CHECK(QueueCurve()[*knee->kneedle].achieved_per_s == 700);
  CHECK(knee->broad);  // 40 %
}

TEST_CASE("a sharp knee is one by both") {
  const std::vector<LoadPoint> points = {AtLoad(100, 10), AtLoad(200, 10), AtLoad(300, 11), AtLoad(310, 100),
                                         AtLoad(312, 300)};
  const auto knee = KneeOf(points);
  REQUIRE(knee.has_value());
  CHECK(knee->kleinrock == 2);
  CHECK(knee->kneedle == 2u);
  CHECK_FALSE(knee->broad);
}

TEST_CASE("a straight line has no knee that both see") {
  const std::vector<LoadPoint> points = {AtLoad(100, 10), AtLoad(200, 20), AtLoad(300, 30)};
  const auto knee = KneeOf(points);
  REQUIRE(knee.has_value());
  CHECK_FALSE(knee->kneedle.has_value());
  CHECK(knee->broad);
  CHECK_FALSE(KneeOf(std::vector<LoadPoint>{AtLoad(100, 10), AtLoad(200, 20)}).has_value());
}

TEST_CASE("ten equal steps at 1 ms have an overall response time of 0.9 ms") {
  std::vector<LoadPoint> points;
  for (int i = 1; i <= 10; ++i) points.push_back(AtLoad(100 * i, 1000));
  const auto overall = OverallResponseOf(points);
  REQUIRE(overall.has_value());
  CHECK(overall->ort_spec_us == Approx(900));
  CHECK(overall->mean_latency_over_range_us == Approx(1000));
  const auto uneven =
      OverallResponseOf(std::vector<LoadPoint>{AtLoad(100, 10), AtLoad(200, 20), AtLoad(400, 60)});
  CHECK(uneven->ort_spec_us == Approx((1500 + 8000) / 400.0));
  CHECK(uneven->mean_latency_over_range_us == Approx((1500 + 8000) / 300.0));
  CHECK_FALSE(OverallResponseOf(std::vector<LoadPoint>{AtLoad(100, 10)}).has_value());
}

TEST_CASE("a collapsed load is no part of the curve") {
  const std::vector<LoadPoint> points = {AtLoad(100, 10), AtLoad(200, 20), AtLoad(150, 500),
                                         AtLoad(210, 900)};
  CHECK(UpToPeak(points).size() == 2);
  CHECK(UpToPeak(std::span(points).first(2)).size() == 2);
  CHECK(UpToPeak({}).empty());
}

TEST_CASE("Little's law is checked to 5 %") {
  CHECK(CheckLittle(1000, 8000, 8).error == Approx(0).margin(1e-12));
  CHECK(CheckLittle(1000, 7700, 8).holds);  // 3.75 % under
  CHECK_FALSE(CheckLittle(1000, 7500, 8).holds);
  CHECK_FALSE(CheckLittle(1000, 8500, 8).holds);
}

TEST_CASE("headroom is what the limit leaves, and the response time comes from the curve") {
  const auto points = QueueCurve();
  const Headroom headroom = HeadroomAt(550, 880, points);
  CHECK(headroom.factor == Approx(1.6));
  CHECK(headroom.unused_share == Approx(0.375));
  CHECK(headroom.mean_us.value() == Approx(2250));  // between 2,000 and 2,500
  CHECK(HeadroomAt(1000, 500, points).unused_share == Approx(-1));
  CHECK_FALSE(HeadroomAt(50, 500, points).mean_us.has_value());
  CHECK_FALSE(HeadroomAt(950, 500, points).mean_us.has_value());
  CHECK(HeadroomAt(900, 900, points).mean_us.value() == Approx(10'000));
}

TEST_CASE("points where nothing was done do not count") {
  const std::vector<LoadPoint> points = {AtLoad(100, 10), AtLoad(150, NAN), AtLoad(200, 20), AtLoad(400, 60)};
  CHECK(OverallResponseOf(points)->ort_spec_us == Approx(9500 / 400.0));
  CHECK(HeadroomAt(150, 400, points).mean_us.value() == Approx(15));
}

TEST_CASE("each added client's part is relative to the first") {
  const std::vector<ScalePoint> points = {{2, 200}, {4, 380}, {8, 580}, {16, 500}};
  const std::vector<double> shares = EfficiencyPerAddedClient(points);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] == Approx(0.9));
  CHECK(shares[1] == Approx(0.5));
  CHECK(shares[2] == Approx(-0.1));
  CHECK(EfficiencyPerAddedClient({}).empty());
}

TEST_CASE("fairness is Jain's index") {
  CHECK(FairnessOf(std::vector<double>{5, 5, 5}) == Approx(1));
  CHECK(FairnessOf(std::vector<double>{6, 0, 0}) == Approx(1.0 / 3));
  CHECK(FairnessOf(std::vector<double>{1, 3}) == Approx(0.8));
  CHECK(std::isnan(FairnessOf({})));
}

}  // namespace
}  // namespace iobench

#include "coordinator/analysis/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

TEST_CASE("the Theil-Sen slope is the median of all slopes, which one outlier does not move") {
  const std::vector<double> days = {0, 1, 2, 3, 4};
  CHECK(TheilSenSlope(days, std::vector<double>{10, 12, 14, 16, 18}) == Approx(2));
  CHECK(TheilSenSlope(days, std::vector<double>{10, 12, 99, 16, 18}) == Approx(2));
  // Slopes of (0, 1), (1, 3), (3, 4): 2, 1/2 and 1.
  CHECK(TheilSenSlope(std::vector<double>{0, 1, 3}, std::vector<double>{1, 3, 4}) == Approx(1));
  CHECK(std::isnan(TheilSenSlope(std::vector<double>{1, 1}, std::vector<double>{1, 3})));
  // As scipy.stats.theilslopes.
  CHECK(TheilSenSlope(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                      std::vector<double>{1, 2, 2, 3, 1, 4, 4, 5, 6, 6, 7, 7}) == Approx(0.5555555555555556));
}

TEST_CASE("the interval of the Theil-Sen slope is that of scipy.stats.theilslopes") {
  const std::vector<double> times = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const SlopeInterval falls =
      TheilSenInterval(times, std::vector<double>{10, 9.5, 9.7, 9, 8.8, 9.1, 8.5, 8.4, 8.6, 8});
  CHECK(falls.slope == Approx(-0.18333333333333326));
  CHECK(falls.low == Approx(-0.25));
  CHECK(falls.high == Approx(-0.15));
  const SlopeInterval level =
      TheilSenInterval(times, std::vector<double>{5, 5.2, 4.9, 5.1, 5, 4.8, 5.1, 5.3, 4.9, 5.05});
  CHECK(level.slope == Approx(0).margin(1e-12));
  CHECK(level.low == Approx(-0.04285714285714283));
  CHECK(level.high == Approx(0.05));
  // Its values have ties.
  const SlopeInterval rises = TheilSenInterval(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                               std::vector<double>{1, 2, 2, 3, 1, 4, 4, 5, 6, 6, 7, 7});
  CHECK(rises.low == Approx(0.5));
  CHECK(rises.high == Approx(2.0 / 3));
  CHECK(std::isnan(TheilSenInterval(std::vector<double>{1, 2}, std::vector<double>{1, 2}).low));
}

TEST_CASE("the exact Mann-Kendall p of few values can be counted by hand") {
  // 2 of the 24 orders of four values are in perfect order.
  const KendallTest rising = MannKendall(std::vector<double>{1, 2, 3, 4});
  CHECK(rising.s == 6);
  CHECK(rising.p == Approx(2.0 / 24));
  CHECK(MannKendall(std::vector<double>{4, 3, 2, 1}).s == -6);
  // One pair in the wrong order: 1 + 3 of 24 have at most one, in either direction.
  CHECK(MannKendall(std::vector<double>{1, 2, 4, 3}).p == Approx(8.0 / 24));
  // As scipy.stats.kendalltau(method="exact").
  const KendallTest ten = MannKendall(std::vector<double>{10, 12, 11, 14, 13, 15, 18, 16, 17, 20});
  CHECK(ten.s == 37);  // 0.8222 of 45 pairs
  CHECK(ten.p == Approx(0.0003576940035273369));
}

TEST_CASE("with ties, p comes from the normal approximation") {
  const KendallTest equal = MannKendall(std::vector<double>{5, 5, 5, 5, 5, 5});
  CHECK(equal.s == 0);
  CHECK(equal.p == 1);
  // n = 12; pairs of 1, 2, 4, 6 and 7: variance (12 x 11 x 29 - 5 x 18) / 18 = 207.667. Of 66 pairs 5 are tied; 2 2 3
  // before the 1 are in the wrong order: S = 58 - 3 = 55, z = 54 / 14.4106 = 3.7472.
  const KendallTest ties = MannKendall(std::vector<double>{1, 2, 2, 3, 1, 4, 4, 5, 6, 6, 7, 7});
  CHECK(ties.s == 55);
  CHECK(ties.p == Approx(std::erfc(54 / std::sqrt(3738.0 / 18) / std::sqrt(2.0))));
}

TEST_CASE("a step is found where it is, with its exact p for four against four") {
  const std::vector<double> step = {10.1, 10.3, 10.2, 10.0, 8.1, 8.3, 8.0, 8.2};
  const std::vector<Change> changes = ChangePoints(step, 0.05);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].first == 4);
  // Of the 70 ways to choose the ranks of the first four, 2 separate both halves, and no other split of eight values is
  // as extreme.
  CHECK(changes[0].p == Approx(2.0 / 70).epsilon(0.25));
}

TEST_CASE("two steps are found, and the values between them are a level of their own") {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(100 + (i * 7) % 5);
  for (int i = 0; i < 10; ++i) values.push_back(80 + (i * 7) % 5);
  for (int i = 0; i < 11; ++i) values.push_back(120 + (i * 7) % 5);
  const std::vector<Change> changes = ChangePoints(values, 0.05);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].first == 12);
  CHECK(changes[1].first == 22);
}

TEST_CASE("one outlier, equal values, or too few values are no change") {
  std::vector<double> outlier;
  for (int i = 0; i < 20; ++i) outlier.push_back(100 + (i * 7) % 5);
  outlier[9] = 10;
  CHECK(ChangePoints(outlier, 0.05).empty());
  CHECK(ChangePoints(std::vector<double>(20, 5.0), 0.05).empty());
  CHECK(ChangePoints(std::vector<double>{9, 9, 9, 1, 1, 1}, 0.05).empty());
}

TEST_CASE("two values at either end are too few for a level of their own") {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(100 + (i * 7) % 11 + 0.01 * i);
  values[0] = 1;
  values[1] = 2;
  values[2] = 200;
  for (const Change& change : ChangePoints(values, 0.2)) CHECK(change.first >= 3);
  std::reverse(values.begin(), values.end());
  for (const Change& change : ChangePoints(values, 0.2)) CHECK(change.first <= 57);
}

TEST_CASE("series without change raise false alarms about as often as alpha says") {
  std::mt19937_64 random(4);
  int alarms = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 20; ++j) values.push_back(static_cast<double>(random() >> 40));
    alarms += ChangePoints(values, 0.05).empty() ? 0 : 1;
  }
  INFO(alarms);
  CHECK(alarms <= 20);  // 10 are expected, with a standard deviation of 3
  CHECK(alarms >= 2);
}

TEST_CASE("the median of an even number of values is between the middle two") {
  CHECK(MedianOfSeries(std::vector<double>{4, 1, 3, 2}) == Approx(2.5));
  CHECK(std::isnan(MedianOfSeries({})));
}

}  // namespace
}  // namespace iobench

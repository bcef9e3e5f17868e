#include "coordinator/analysis/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/unit/dependent_series.h"

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

std::vector<double> Count(size_t n) {
  std::vector<double> times;
  for (size_t i = 0; i < n; ++i) times.push_back(static_cast<double>(i));
  return times;
}

// The share of `kSeries` series for which `is_found` holds.
constexpr int kSeries = 200;
template <typename Make, typename Found>
double ShareOf(uint64_t seed, const Make& make, const Found& is_found) {
  SeriesSource measured(seed);
  int count = 0;
  for (int i = 0; i < kSeries; ++i) count += is_found(make(measured)) ? 1 : 0;
  return count / static_cast<double>(kSeries);
}

bool HasTrend(const std::vector<double>& values) {
  const SeriesTrend trend = TrendOf(Count(values.size()), values, 0.95);
  // Interval and test agree.
  CHECK((trend.p <= 0.05) == (trend.low > 0 || trend.high < 0));
  return trend.p <= 0.05;
}

TEST_CASE("a trend of a straight line is its slope, without any doubt") {
  std::vector<double> line;
  for (int i = 0; i < 12; ++i) line.push_back(100 - 2 * i);
  const SeriesTrend trend = TrendOf(Count(12), line, 0.95);
  CHECK(trend.slope == Approx(-2));
  CHECK(trend.low == Approx(-2));
  CHECK(trend.high == Approx(-2));
  CHECK(trend.kendall_s == -66);
  CHECK(trend.p < 0.001);
  const SeriesTrend level = TrendOf(Count(12), std::vector<double>(12, 5.0), 0.95);
  CHECK(level.kendall_s == 0);
  CHECK(level.p == 1);
  CHECK(level.slope == 0);
}

TEST_CASE("without dependence, p would be that of Mann and Kendall; with what a short series may have, it is larger") {
  // scipy.stats.kendalltau(method="exact") says 0.00036; of series with a correlation of 0.6, about 2 % look like this.
  const SeriesTrend ten = TrendOf(Count(10), std::vector<double>{10, 12, 11, 14, 13, 15, 18, 16, 17, 20}, 0.95);
  CHECK(ten.kendall_s == 37);
  CHECK(ten.correlation == Approx(0.6));
  CHECK(ten.p > 0.002);
  CHECK(ten.p < 0.05);
}

TEST_CASE("dependent noise is a trend in at most 7 % of series, and trends are found") {
  for (const size_t n : {6u, 12u, 60u}) {
    for (const double correlation : {0.0, 0.6}) {
      const double alarms = ShareOf(
          n, [&](SeriesSource& measured) { return measured.Series(n, 100, 5, correlation); }, HasTrend);
      INFO(n << " values, correlation " << correlation << ": " << 100 * alarms << " % false");
      CHECK(alarms <= 0.07 + 0.015);  // 5 % are meant; 200 series give it to 1.5 %
    }
    const double found = ShareOf(
        n,
        [&](SeriesSource& measured) {
          std::vector<double> values = measured.Series(n, 100, 1);
          for (size_t i = 0; i < n; ++i) values[i] += 10 * static_cast<double>(i) / static_cast<double>(n - 1);
          return values;
        },
        HasTrend);
    INFO(n << " values: 10 % with scatter of 1 % is found in " << 100 * found << " %");
    CHECK(found >= (n == 6 ? 0.55 : 0.95));
  }
}

bool Changes(const std::vector<double>& values) {
  return !ChangePoints(values, 0.05).empty();
}

TEST_CASE("dependent noise, slow waves and steady drifts are changes of level in at most 7 % of series; steps are found") {
  for (const size_t n : {8u, 30u}) {
    const auto share = [&](const auto& make) { return ShareOf(n, make, Changes); };
    const double none = share([&](SeriesSource& measured) { return measured.Series(n, 100, 5); });
    const double dependent = share([&](SeriesSource& measured) { return measured.Series(n, 100, 5, 0.6); });
    const double wave = share([&](SeriesSource& measured) { return measured.OnWave(n, 100, 5, 0.3, 10, 1.4); });
    const auto drifting = [&](double correlation, double drift) {
      return share([&](SeriesSource& measured) {
        std::vector<double> values = measured.Series(n, 100, 5, correlation);
        for (size_t i = 0; i < n; ++i) values[i] += drift * static_cast<double>(i) / static_cast<double>(n);
        return values;
      });
    };
    const double drift = std::max({drifting(0, 25), drifting(0.6, 25), drifting(0, 100)});
    const double found = share([&](SeriesSource& measured) {
      std::vector<double> values = measured.Series(n, 100, 1);
      for (size_t i = n / 2; i < n; ++i) values[i] -= 6;
      return values;
    });
    INFO(n << " values: none " << none << ", dependent " << dependent << ", wave " << wave << ", drift " << drift
           << ", step found " << found);
    CHECK(std::max({none, dependent, wave, drift}) <= 0.07 + 0.015);
    CHECK(found >= (n == 8 ? 0.75 : 0.9));
  }
}

TEST_CASE("a step is found where it is") {
  const std::vector<double> step = {10.1, 10.3, 10.2, 10.0, 8.1, 8.3, 8.0, 8.2};
  const std::vector<Change> changes = ChangePoints(step, 0.05);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].first == 4);
  CHECK(changes[0].p < 0.05);
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

TEST_CASE("the median of an even number of values is between the middle two") {
  CHECK(MedianOfSeries(std::vector<double>{4, 1, 3, 2}) == Approx(2.5));
  CHECK(std::isnan(MedianOfSeries({})));
}

}  // namespace
}  // namespace iobench

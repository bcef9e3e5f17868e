// Intervals of ratios. Reference values are those of SciPy 1.10 (scipy.stats), unless they are worked out by hand.
#include "coordinator/analysis/compare/figure_error.h"

#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/unit/dependent_series.h"

namespace iobench {
namespace {

TEST_CASE("the error of a mean is relative to it") {
  // 9, 11, 9: standard deviation 2 / sqrt(3), no drift; 2/3 of 29/3.
  const std::vector<double> values = {9, 11, 9};
  CHECK(ErrorOfMean(values).error == Approx(2.0 / 29));
  CHECK(ErrorOfMean(values).degrees == 2);
}

TEST_CASE("the interval of a ratio is that of Welch's method in logarithms") {
  const RatioInterval found = RatioOf(100, {0.00707106781, 4}, 90.6, {0.004747461, 4}, 0.95);
  CHECK(found.ratio == Approx(0.906));
  CHECK(found.degrees == Approx(6.997).epsilon(1e-3));
  CHECK(found.low == Approx(0.8879347812489868).epsilon(1e-5));
  CHECK(found.high == Approx(0.9244327594031123).epsilon(1e-5));
  CHECK(found.p == Approx(8.049057300305207e-06).epsilon(1e-3));
  // Against the interval's upper end, the one-sided p of a ratio this low is 2.5 %.
  CHECK(TailBelow(found, found.high) == Approx(0.025).epsilon(1e-6));
  CHECK(TailAbove(found, found.low) == Approx(0.025).epsilon(1e-6));
  CHECK(TailBelow(found, 0.906) == Approx(0.5));
}

TEST_CASE("figures without scatter differ or they do not") {
  const RelativeError none{0, 4};
  CHECK(RatioOf(10, none, 10, none, 0.95).p == 1);
  const RatioInterval other = RatioOf(10, none, 9, none, 0.95);
  CHECK(other.p == 0);
  CHECK(other.low == Approx(0.9));
  CHECK(other.high == Approx(0.9));
  CHECK(TailBelow(other, 0.95) == 0);
  CHECK(TailBelow(other, 0.9) == 1);
}

TEST_CASE("the geometric mean of 2 and 1/2 is 1, and its error that of both over two") {
  const RelativeError error{0.03, 10};
  const std::vector<RatioInterval> ratios = {RatioOf(1, error, 2, error, 0.95),
                                             RatioOf(1, error, 0.5, error, 0.95)};
  const RatioInterval mean = GeometricMean(ratios, 0.95);
  CHECK(mean.ratio == Approx(1));
  CHECK(mean.log_error == Approx(0.03 * 2 / 2));  // four errors of 0.03 in quadrature are 0.06
  CHECK(mean.degrees == Approx(40));
}

TEST_CASE(
    "Holm multiplies the smallest p by the number of tests, the next by one less, and never goes back") {
  const std::vector<double> p = {0.04, 0.01, NAN, 0.03, 0.9};
  const std::vector<double> adjusted = HolmAdjusted(p);
  CHECK(adjusted[1] == Approx(0.04));  // 4 x 0.01
  CHECK(adjusted[3] == Approx(0.09));  // 3 x 0.03
  CHECK(adjusted[0] == Approx(0.09));  // 2 x 0.04 = 0.08 would be less than its predecessor
  CHECK(adjusted[4] == Approx(0.9));
  CHECK(std::isnan(adjusted[2]));
  CHECK(HolmAdjusted(std::vector<double>{0.6, 0.7})[0] == 1);
}

TEST_CASE("too few slices, or nothing moved, tell nothing") {
  CHECK(!ErrorOfSeries(std::vector<double>(19, 1.0)).has_value());
  CHECK(ErrorOfSeries(std::vector<double>(20, 1.0)).has_value());
  CHECK(!ErrorOfSeries(std::vector<double>(40, 0.0)).has_value());
}

// 60 slices of 100 ops each: most take 1 us (bin 0..2), `slow` take 10 us (bin 8..16).
struct LatencyData {
  std::vector<double> upper = {2, 4, 8, 16};
  std::vector<std::vector<double>> rows;
  LatencyOverTime slices() const {
    LatencyOverTime made{.bin_upper_us = upper, .lowest_us = 1, .counts = {}};
    for (const auto& row : rows) made.counts.push_back(row);
    return made;
  }
};

TEST_CASE("a percentile that every slice agrees on has no error, others have one, always the same") {
  LatencyData data;
  for (int i = 0; i < 60; ++i) data.rows.push_back({95, 0, 0, 5});
  const auto steady = ErrorOfPercentile(data.slices(), 0.99);
  REQUIRE(steady.has_value());
  CHECK(steady->error == Approx(0).margin(1e-9));
  for (int i = 0; i < 60; i += 3) data.rows[static_cast<size_t>(i)] = {100, 0, 0, 0};
  for (int i = 1; i < 60; i += 7) data.rows[static_cast<size_t>(i)] = {60, 39, 1, 0};
  const auto varied = ErrorOfPercentile(data.slices(), 0.99);
  REQUIRE(varied.has_value());
  CHECK(varied->error > 0.001);
  CHECK(varied->error < 0.6);
  CHECK(ErrorOfPercentile(data.slices(), 0.99)->error == varied->error);
  data.rows.resize(19);
  CHECK(!ErrorOfPercentile(data.slices(), 0.99).has_value());
}

TEST_CASE("the error of a percentile is about what repeated measurements show") {
  // The median of 60 slices with 40 uniform values each in 200 bins from 100 us to 1,100 us.
  SeriesSource measured(9);
  LatencyData data;
  data.upper.clear();
  for (int bin = 1; bin <= 200; ++bin) data.upper.push_back(100 + 5 * bin);
  std::vector<double> medians;
  double mean_error = 0;
  constexpr int kRuns = 20;
  for (int run = 0; run < kRuns; ++run) {
    data.rows.assign(60, std::vector<double>(200));
    std::vector<double> values;
    for (auto& row : data.rows) {
      for (int i = 0; i < 40; ++i) {
        const double value = measured.Uniform() * 1000;
        ++row[static_cast<size_t>(value / 5)];
        values.push_back(value + 100);
      }
    }
    std::nth_element(values.begin(), values.begin() + 1200, values.end());
    medians.push_back(values[1200]);
    LatencyOverTime slices = data.slices();
    slices.lowest_us = 100;
    mean_error += ErrorOfPercentile(slices, 0.5)->error / kRuns;
  }
  double squares = 0;
  for (const double median : medians) squares += (median - 600) * (median - 600);
  const double real = std::sqrt(squares / kRuns) / 600;  // theory: 1000 / (2 sqrt(2400)) / 600 = 0.0170
  INFO(mean_error << " estimated, " << real << " real");
  CHECK(mean_error > real);
  CHECK(mean_error < 4 * real);  // with what drifts by chance: sqrt(7) = 2.6 times
}

}  // namespace
}  // namespace iobench

// Intervals of ratios. Reference values are those of SciPy 1.10 (scipy.stats), unless they are worked out by hand.
#include "coordinator/analysis/compare/bootstrap.h"

#include <cmath>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/statistics/student_t.h"

namespace iobench {
namespace {

TEST_CASE("tails of Student's t are those of scipy.stats.t.sf") {
  CHECK(StudentTail(0.5, 1) == Approx(0.3524163823495668).epsilon(1e-12));
  CHECK(StudentTail(2, 2.5) == Approx(0.078695747878983).epsilon(1e-12));
  CHECK(StudentTail(3, 4) == Approx(0.019970984035859413).epsilon(1e-12));
  CHECK(StudentTail(10, 7) == Approx(1.069710144538641e-05).epsilon(1e-10));
  CHECK(StudentTail(-1, 3) == Approx(0.8044988905221148).epsilon(1e-12));
  CHECK(StudentTail(1.96, 1000) == Approx(0.025136592477874354).epsilon(1e-10));
  CHECK(StudentTail(50, 3) == Approx(8.808576020635976e-06).epsilon(1e-10));
  CHECK(StudentTail(0, 5) == Approx(0.5));
  CHECK(StudentTail(INFINITY, 5) == 0);
  CHECK(StudentTail(-INFINITY, 5) == 1);
}

TEST_CASE("quantiles of Student's t are those of scipy.stats.t.isf") {
  CHECK(StudentQuantile(0.025, 2) == Approx(4.3026527299112765).epsilon(1e-10));
  CHECK(StudentQuantile(0.005, 7.5) == Approx(3.4214226881240473).epsilon(1e-10));
  CHECK(StudentQuantile(0.025, 1) == Approx(12.706204736432102).epsilon(1e-10));
  // SciPy's own is off by 3e-9 here: its sf(3.39049132, 100) is 0.00049999999.
  CHECK(StudentQuantile(0.0005, 100) == Approx(3.3904913194103012).epsilon(1e-8));
  CHECK(StudentTail(StudentQuantile(0.0005, 100), 100) == Approx(0.0005).epsilon(1e-11));
  CHECK(StudentQuantile(0.5, 3) == Approx(0).margin(1e-9));
}

TEST_CASE("the error of a mean is the standard deviation over sqrt(n), relative to the mean") {
  // 9, 10, 11: standard deviation 1; 1 / sqrt(3) / 10.
  const std::vector<double> values = {9, 10, 11};
  CHECK(ErrorOfMean(values).error == Approx(0.1 / std::sqrt(3.0)));
  CHECK(ErrorOfMean(values).degrees == 2);
}

TEST_CASE("it is what resampling tends to, with its correction for few values") {
  const std::vector<double> values = {9, 10, 11, 14, 6};
  std::mt19937_64 random(1);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    double mean = 0;
    for (int j = 0; j < 5; ++j) mean += values[random() % 5] / 5;
    sum += mean;
    squares += mean * mean;
  }
  const double deviation = std::sqrt(squares / kDraws - sum / kDraws * sum / kDraws);
  CHECK(ErrorOfMean(values).error == Approx(deviation * std::sqrt(5.0 / 4) / 10).epsilon(0.01));
}

TEST_CASE("the interval of five against five repetitions is that of Welch's method") {
  const std::vector<double> before = {100, 102, 98, 101, 99}, after = {90, 91, 89.5, 90.5, 92};
  const RatioInterval found = RatioOf(100, ErrorOfMean(before), 90.6, ErrorOfMean(after), 0.95);
  CHECK(found.ratio == Approx(0.906));
  CHECK(found.degrees == Approx(6.997112694848364));
  CHECK(found.low == Approx(0.8879347812489868));
  CHECK(found.high == Approx(0.9244327594031123));
  CHECK(found.p == Approx(8.049057300305207e-06).epsilon(1e-6));
  // Against the interval's upper end, 0.924433, the one-sided p of a ratio this low is 2.5 %.
  CHECK(TailBelow(found, 0.9244327594031123) == Approx(0.025).epsilon(1e-6));
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

// Draws that are the same with every standard library.
class Noise {
 public:
  explicit Noise(uint64_t seed) : random_(seed) {}
  double Uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * M_PI * Uniform()); }
  std::vector<double> Independent(size_t n, double mean, double deviation) {
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) values.push_back(mean + deviation * Normal());
    return values;
  }
  // An AR(1) process: each value depends on the one before.
  std::vector<double> Series(size_t n, double mean, double deviation, double correlation) {
    std::vector<double> values;
    double off = Normal();
    for (size_t i = 0; i < n; ++i) {
      values.push_back(mean + deviation * off);
      off = correlation * off + std::sqrt(1 - correlation * correlation) * Normal();
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
};

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

RatioInterval FromRepetitions(const std::vector<double>& before, const std::vector<double>& after) {
  return RatioOf(Mean(before), ErrorOfMean(before), Mean(after), ErrorOfMean(after), 0.95);
}

TEST_CASE("intervals from repetitions hold the true ratio about as often as they say") {
  Noise noise(7);
  for (const size_t n : {3u, 5u, 10u}) {
    int held = 0;
    constexpr int kRuns = 1000;
    for (int i = 0; i < kRuns; ++i) {
      const RatioInterval found = FromRepetitions(noise.Independent(n, 100, 4), noise.Independent(n, 90, 4));
      held += found.low <= 0.9 && 0.9 <= found.high ? 1 : 0;
    }
    INFO(n << " repetitions: " << held << " of " << kRuns);
    CHECK(held > 930);
    CHECK(held < 985);
  }
}

TEST_CASE("of 200 comparisons of 20 equal phases, few raise a false alarm after Holm; 10 % less is found") {
  Noise noise(11);
  int alarms = 0, found = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> p, p_slower;
    for (int phase = 0; phase < 20; ++phase) {
      p.push_back(FromRepetitions(noise.Independent(5, 100, 3), noise.Independent(5, 100, 3)).p);
      p_slower.push_back(FromRepetitions(noise.Independent(5, 100, 1.5), noise.Independent(5, 90, 1.5)).p);
    }
    bool any = false;
    for (const double adjusted : HolmAdjusted(p)) any |= adjusted <= 0.05;
    alarms += any ? 1 : 0;
    for (const double adjusted : HolmAdjusted(p_slower)) found += adjusted <= 0.05 ? 1 : 0;
  }
  INFO(alarms << " false alarms, " << found << " found");
  CHECK(alarms <= 18);  // 5 % are 10, with a standard deviation of 3
  CHECK(found > 0.9 * 200 * 20);
}

TEST_CASE("independent slices are blocks of one, dependent ones longer blocks") {
  Noise noise(3);
  CHECK(BlockLength(std::vector<double>(50, 7.0)) == 1);
  // Alternating values have a negative correlation.
  std::vector<double> alternating;
  for (int i = 0; i < 50; ++i) alternating.push_back(i % 2);
  CHECK(BlockLength(alternating) == 1);
  CHECK(BlockLength(noise.Series(600, 100, 5, 0.8)) > 10);
}

TEST_CASE("the error of independent slices is that of their mean") {
  // Alternating 9 and 11: deviation 1 with divisor n, so 1 / sqrt(39) for 40 slices, of 10.
  std::vector<double> slices;
  for (int i = 0; i < 40; ++i) slices.push_back(i % 2 == 0 ? 9 : 11);
  const auto error = ErrorOfSeries(slices);
  REQUIRE(error.has_value());
  CHECK(error->error == Approx(0.1 / std::sqrt(39.0)));
  CHECK(error->degrees == Approx(39));
}

TEST_CASE("intervals from slices that depend on each other do not raise many false alarms") {
  Noise noise(5);
  for (const double correlation : {0.0, 0.3, 0.6, 0.8}) {
    int alarms = 0, naive_alarms = 0, slower_found = 0;
    constexpr int kRuns = 400;
    for (int i = 0; i < kRuns; ++i) {
      const auto before = noise.Series(400, 100, 5, correlation),
                 after = noise.Series(400, 100, 5, correlation);
      const auto slower = noise.Series(400, 90, 5, correlation);
      const auto error = ErrorOfSeries(before), other = ErrorOfSeries(after), third = ErrorOfSeries(slower);
      REQUIRE((error.has_value() && other.has_value() && third.has_value()));
      alarms += RatioOf(Mean(before), *error, Mean(after), *other, 0.95).p <= 0.05 ? 1 : 0;
      naive_alarms += FromRepetitions(before, after).p <= 0.05 ? 1 : 0;
      slower_found += RatioOf(Mean(before), *error, Mean(slower), *third, 0.95).p <= 0.05 ? 1 : 0;
    }
    INFO("correlation " << correlation << ": " << alarms << ", as if independent " << naive_alarms);
    CHECK(alarms <= 0.09 * kRuns);
    if (correlation > 0.5) CHECK(naive_alarms > 0.2 * kRuns);
    CHECK(slower_found > 0.9 * kRuns);
  }
}

TEST_CASE("too few slices, too few blocks, or nothing moved tell nothing") {
  Noise noise(2);
  CHECK(!ErrorOfSeries(std::vector<double>(19, 1.0)).has_value());
  CHECK(ErrorOfSeries(std::vector<double>(20, 1.0)).has_value());
  CHECK(!ErrorOfSeries(std::vector<double>(40, 0.0)).has_value());
  std::vector<double> drifting;  // each value is nearly the one before
  for (int i = 0; i < 40; ++i) drifting.push_back(100 + i);
  CHECK(!ErrorOfSeries(drifting).has_value());
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
  CHECK(varied->error < 0.2);
  CHECK(ErrorOfPercentile(data.slices(), 0.99)->error == varied->error);
  data.rows.resize(19);
  CHECK(!ErrorOfPercentile(data.slices(), 0.99).has_value());
}

TEST_CASE("the error of a percentile is about what repeated measurements show") {
  // The median of 60 slices with 40 uniform values each in 200 bins from 100 us to 1,100 us.
  Noise noise(9);
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
        const double value = noise.Uniform() * 1000;
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
  CHECK(mean_error > 0.7 * real);
  CHECK(mean_error < 1.5 * real);
}

}  // namespace
}  // namespace iobench

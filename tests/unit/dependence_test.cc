#include "coordinator/analysis/statistics/dependence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "coordinator/analysis/statistics/student_t.h"
#include "tests/unit/dependent_series.h"

namespace iobench {
namespace {

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

MeanError ErrorOf(const std::vector<double>& values) {
  return values.size() < kMinSeries ? ErrorOfFew(values) : *ErrorOfLong(values);
}

// Welch's test at 5 %.
bool Differ(const std::vector<double>& a, const std::vector<double>& b) {
  const MeanError one = ErrorOf(a), other = ErrorOf(b);
  const double va = one.error * one.error, vb = other.error * other.error;
  const double degrees = (va + vb) * (va + vb) / (va * va / one.degrees + vb * vb / other.degrees);
  return std::abs(MeanOf(a) - MeanOf(b)) > StudentQuantile(0.025, degrees) * std::sqrt(va + vb);
}

TEST_CASE("the error of a few values is their scatter and their drift") {
  // 9, 11, 9: no drift; standard deviation 2 / sqrt(3), over sqrt(3).
  CHECK(ErrorOfFew(std::vector<double>{9, 11, 9}).error == Approx(2.0 / 3));
  CHECK(ErrorOfFew(std::vector<double>{9, 11, 9}).degrees == 2);
  // 9, 10, 11: standard deviation 1, and a drift of 3 over three values: 1/3 + 9/2.
  CHECK(ErrorOfFew(std::vector<double>{9, 10, 11}).error == Approx(std::sqrt(1.0 / 3 + 4.5)));
  CHECK(ErrorOfFew(std::vector<double>(5, 7.0)).error == 0);
}

TEST_CASE("a long series that does not vary has no error, a short one is refused") {
  CHECK(ErrorOfLong(std::vector<double>(20, 1.0))->error == Approx(0).margin(1e-12));
  CHECK(!ErrorOfLong(std::vector<double>(19, 1.0)).has_value());
}

TEST_CASE("the error of a long series is what repeated series show") {
  SeriesSource measured(3);
  for (const double correlation : {0.0, 0.6, 0.8}) {
    double squares = 0, estimated = 0;
    constexpr int kRuns = 400;
    for (int i = 0; i < kRuns; ++i) {
      const auto values = measured.Series(400, 0, 1, correlation);
      squares += MeanOf(values) * MeanOf(values) / kRuns;
      estimated += ErrorOfLong(values)->error / kRuns;
    }
    // A drift that is only apparent adds 12/2 times the variance: sqrt(7) = 2.6 in all.
    INFO(correlation << ": " << std::sqrt(squares) << " real, " << estimated << " estimated");
    CHECK(estimated > 1.3 * std::sqrt(squares));
    CHECK(estimated < 3 * std::sqrt(squares));
  }
}

TEST_CASE("equal runs differ in at most 7 % of comparisons, with dependent noise and with slow drift; changes are found") {
  SeriesSource measured(5);
  constexpr int kRuns = 300;
  const auto share = [&](const auto& make, double change) {
    int count = 0;
    for (int i = 0; i < kRuns; ++i) {
      const std::vector<double> a = make();
      std::vector<double> b = make();
      for (double& value : b) value += change;
      count += Differ(a, b) ? 1 : 0;
    }
    return count / static_cast<double>(kRuns);
  };
  for (const size_t n : {3u, 5u, 10u, 20u, 60u, 200u}) {
    const auto noise = [&](double correlation) {
      return [&measured, n, correlation] { return measured.Series(n, 100, 5, correlation); };
    };
    const double independent = share(noise(0), 0), dependent = share(noise(0.6), 0), more = share(noise(0.8), 0);
    const auto wave = [&](double length) {
      return share([&] { return measured.OnWave(n, 100, 5, n < kMinSeries ? 0 : 0.6, 10, length); }, 0);
    };
    const double slow = std::max({wave(1), wave(2), wave(4)});
    const double found = share(noise(0), n < kMinSeries ? 40 : 10), found_dependent = share(noise(0.6), 25);
    INFO(n << " values: independent " << independent << ", 0.6 " << dependent << ", 0.8 " << more << ", slow " << slow
           << "; found " << found << ", at 0.6 " << found_dependent);
    CHECK(independent <= 0.07);
    CHECK(dependent <= 0.07);
    CHECK(slow <= (n == 10 || n == 200 ? 0.13 : 0.08));
    CHECK(found >= (n == 3 ? 0.55 : n == 20 ? 0.4 : 0.85));
    if (n >= 60) CHECK(found_dependent >= 0.95);
  }
}

TEST_CASE("a drift that goes on from one run to the next is no difference between them") {
  SeriesSource measured(6);
  for (const size_t n : {5u, 10u, 60u, 200u}) {
    for (const double drift : {5.0, 15.0, 30.0}) {
      int alarms = 0;
      for (int run = 0; run < 200; ++run) {
        std::vector<double> both = measured.Series(2 * n, 100, 5, n < kMinSeries ? 0 : 0.6);
        for (size_t i = 0; i < 2 * n; ++i) both[i] += drift * static_cast<double>(i) / static_cast<double>(n);
        const auto middle = both.begin() + static_cast<ptrdiff_t>(n);
        alarms += Differ({both.begin(), middle}, {middle, both.end()}) ? 1 : 0;
      }
      INFO(n << " values, drift " << drift << ": " << alarms);
      CHECK(alarms <= 0.075 * 200);
    }
  }
}

TEST_CASE("what is not known of a short series is assumed; a long one shows it") {
  SeriesSource measured(8);
  CHECK(CautiousCorrelation(measured.Series(10, 0, 1, 0), 20) >= 0.6);
  CHECK(CautiousCorrelation(measured.Series(400, 0, 1, 0), 20) < 0.2);
  CHECK(CautiousCorrelation(measured.Series(400, 0, 1, 0.6), 20) > 0.5);
  CHECK(CautiousCorrelation(measured.Series(400, 0, 1, 0.6), 20) < 0.8);
}

}  // namespace
}  // namespace iobench

// The interval of the ratio of two rates that were each measured several times.
#include "coordinator/analysis/statistics/rate_ratio.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace iobench {
namespace {

using Rates = std::vector<double>;

TEST_CASE("the ratio is of geometric means, and rates that do not vary have no width") {
  const auto ratio = RatioOfRates(Rates{200, 200}, Rates{100, 100});
  REQUIRE(ratio.has_value());
  CHECK(ratio->ratio == Approx(2));
  CHECK(ratio->low == Approx(2));
  CHECK(ratio->high == Approx(2));
}

TEST_CASE("of two pairs, the interval is that of Welch's t") {
  // Logarithms: 0 and 0.2, and 0 and 0.2: variance of each mean 0.01, together 0.02, 2 degrees of freedom, t = 4.30265.
  const Rates pair{1, std::exp(0.2)};
  const auto ratio = RatioOfRates(pair, pair);
  REQUIRE(ratio.has_value());
  CHECK(ratio->ratio == Approx(1));
  CHECK(std::log(ratio->high) == Approx(4.30265 * std::sqrt(0.02)).epsilon(1e-4));
  CHECK(std::log(ratio->low) == Approx(-std::log(ratio->high)));
}

TEST_CASE("a single rate, or none, says nothing about how it varies") {
  CHECK_FALSE(RatioOfRates(Rates{1}, Rates{1, 2}));
  CHECK_FALSE(RatioOfRates(Rates{1, 2}, Rates{}));
  CHECK_FALSE(RatioOfRates(Rates{1, 0}, Rates{1, 2}));
  CHECK_FALSE(RatioOfRates(Rates{1, std::nan("")}, Rates{1, 2}));
}

TEST_CASE("of 400 pairs of equal series, 95 % of the intervals contain 1") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.1);
  for (const int count : {2, 3, 5}) {
    int covered = 0;
    for (int trial = 0; trial < 400; ++trial) {
      Rates a, b;
      for (int i = 0; i < count; ++i) {
        a.push_back(std::exp(noise(random)));
        b.push_back(std::exp(noise(random)));
      }
      const auto ratio = RatioOfRates(a, b);
      covered += ratio->low <= 1 && 1 <= ratio->high;
    }
    INFO(count << " repetitions");
    CHECK(covered >= 372);  // 93 %; Welch's interval is a little too wide for two
  }
}

}  // namespace
}  // namespace iobench

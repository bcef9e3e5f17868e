#include "coordinator/analysis/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "tests/unit/dependent_series.h"

namespace iobench {
namespace {

constexpr double kManyOps = 100;

// Rates of 1 s: `before` until `at`, then `after`. The rate in which it changes has a part of both.
std::vector<double> Step(size_t count, double at, double before, double after) {
  std::vector<double> rates;
  for (size_t i = 0; i < count; ++i) {
    const double of_before = std::clamp(at - static_cast<double>(i), 0.0, 1.0);
    rates.push_back(before * of_before + after * (1 - of_before));
  }
  return rates;
}

// The same, each with a random factor; successive ones depend on each other.
std::vector<double> Noisy(std::vector<double> rates, double deviation, double correlation, SeriesSource& source) {
  const std::vector<double> noise = source.Series(rates.size(), 0, deviation, correlation);
  for (size_t i = 0; i < rates.size(); ++i) rates[i] *= std::exp(noise[i]);
  return rates;
}

TEST_CASE("a step is found where it is, also within a rate, with both levels") {
  for (const double at : {20.0, 60.25, 100.5, 171.75}) {
    const std::vector<LevelChange> changes = LevelChangesOf(Step(200, at, 350, 100), kManyOps);
    INFO(at);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].at == Approx(at).margin(0.25));
    CHECK(changes[0].low < at);
    CHECK(changes[0].high > at);
    CHECK(changes[0].high - changes[0].low < 3);
    CHECK(changes[0].before == Approx(350).epsilon(0.01));
    CHECK(changes[0].after == Approx(100).epsilon(0.01));
  }
}

TEST_CASE("a rise is a change, and several changes are found in their order") {
  const std::vector<LevelChange> rise = LevelChangesOf(Step(120, 50, 100, 130), kManyOps);
  REQUIRE(rise.size() == 1);
  CHECK(rise[0].after == Approx(130).epsilon(0.01));
  std::vector<double> rates = Step(200, 80, 400, 200);
  for (size_t i = 140; i < 200; ++i) rates[i] = 100;
  const std::vector<LevelChange> falls = LevelChangesOf(rates, kManyOps);
  REQUIRE(falls.size() == 2);
  CHECK(falls[0].at == Approx(80).margin(0.5));
  CHECK(falls[1].at == Approx(140).margin(0.5));
  CHECK(falls[1].before == Approx(200).epsilon(0.01));
}

TEST_CASE("levels are a quarter apart at least") {
  CHECK(LevelChangesOf(Step(200, 100, 124, 100), kManyOps).empty());
  CHECK(LevelChangesOf(Step(200, 100, 126, 100), kManyOps).size() == 1);
}

TEST_CASE("an interruption is no change: the level did not stay") {
  std::vector<double> rates(200, 100.0);
  std::fill(rates.begin() + 90, rates.begin() + 130, 20.0);  // a fifth of the time
  CHECK(LevelChangesOf(rates, kManyOps).empty());
  std::fill(rates.begin() + 90, rates.begin() + 150, 20.0);  // more than a quarter
  CHECK(LevelChangesOf(rates, kManyOps).size() == 2);
}

TEST_CASE("a gradual fall, a warm-up slope and regular pauses are no changes") {
  std::vector<double> falls, warms, pauses;
  for (int i = 0; i < 200; ++i) {
    falls.push_back(200.0 - i * 0.6);
    warms.push_back(100 - 70 * std::exp(-i / 10.0));
    pauses.push_back(i % 20 < 3 ? 20 : 100);
  }
  CHECK(LevelChangesOf(falls, kManyOps).empty());
  CHECK(LevelChangesOf(warms, kManyOps).empty());
  CHECK(LevelChangesOf(pauses, kManyOps).empty());
}

TEST_CASE("one slow op is no level, and with few ops no change is known") {
  std::vector<double> rates(100, 10.0);
  std::fill(rates.begin() + 80, rates.end(), 0.5);
  CHECK(LevelChangesOf(rates, 5).empty());   // of 500 ops, 12 are in the last fifth
  CHECK(LevelChangesOf(rates, 50).size() == 1);  // 120 are
  CHECK(LevelChangesOf(Step(100, 50, 350, 100), 0.1).empty());
  CHECK(LevelChangesOf({}, 1).empty());
  CHECK(LevelChangesOf(std::vector<double>(200, 0.0), kManyOps).empty());
}

TEST_CASE("noise whose successive values depend on each other has a change in less than 1 % of series, also on a slope") {
  for (const double correlation : {0.0, 0.6, 0.9}) {
    for (const bool warms_up : {false, true}) {
      SeriesSource source(static_cast<uint64_t>(10 * correlation) + (warms_up ? 100 : 0));
      int alarms = 0;
      for (int i = 0; i < 500; ++i) {
        std::vector<double> rates(60 + static_cast<size_t>(180 * source.Uniform()), 100.0);
        const double slope = 0.1 * static_cast<double>(rates.size()) * source.Uniform() + 1;
        for (size_t at = 0; warms_up && at < rates.size(); ++at)
          rates[at] *= 1 - 0.7 * std::exp(-static_cast<double>(at) / slope);
        alarms += LevelChangesOf(Noisy(rates, 0.05 + 0.15 * source.Uniform(), correlation, source), kManyOps).empty() ? 0 : 1;
      }
      INFO("correlation " << correlation << (warms_up ? ", warm-up" : ""));
      CHECK(alarms < 5);
    }
  }
}

TEST_CASE("steps in noise are found within 5 %, and mostly within their bounds") {
  SeriesSource source(3);
  int found = 0, in_bounds = 0;
  for (int i = 0; i < 200; ++i) {
    const double at = 40 + 120 * source.Uniform(), after = 80 + 120 * source.Uniform();
    const std::vector<LevelChange> changes =
        LevelChangesOf(Noisy(Step(200, at, 350, after), 0.05, 0.5, source), kManyOps);
    if (changes.size() != 1) continue;
    found += std::abs(changes[0].at / at - 1) < 0.05 && std::abs(changes[0].before / 350 - 1) < 0.05 &&
             std::abs(changes[0].after / after - 1) < 0.05;
    in_bounds += changes[0].low <= at && at <= changes[0].high;
  }
  CHECK(found >= 196);
  CHECK(in_bounds >= 190);
}

}  // namespace
}  // namespace iobench

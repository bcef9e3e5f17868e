#include "common/clock_map.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "common/clock.h"

namespace iobench {
namespace {

v1::PingBurst Burst(const std::vector<std::array<int64_t, 4>>& pings) {
  v1::PingBurst burst;
  for (const auto& [sent, received, replied, returned] : pings) {
    v1::PingSample& sample = *burst.add_samples();
    sample.set_sent_coord_ns(sent);
    sample.set_received_worker_ns(received);
    sample.set_replied_worker_ns(replied);
    sample.set_returned_coord_ns(returned);
  }
  return burst;
}

TEST_CASE("one ping proves theta between its two halves", "[clock_map]") {
  // Theta is 50,000; 400 ns there, 500 ns back, 100 ns on the worker.
  const auto interval = IntervalOf(Burst({{1'000, 51'400, 51'500, 2'000}}));
  REQUIRE(interval.ok());
  CHECK(interval->at.ns == 1'500);
  CHECK(interval->low_ns == 49'500);
  CHECK(interval->high_ns == 50'400);
}

TEST_CASE("a burst proves what its best pings prove each way", "[clock_map]") {
  const auto interval = IntervalOf(Burst({{1'000, 51'010, 51'010, 9'000},       // quick there
                                          {10'000, 67'980, 67'980, 18'000}}));  // quick back
  REQUIRE(interval.ok());
  CHECK(interval->at.ns == 9'500);
  CHECK(interval->low_ns == 49'980);
  CHECK(interval->high_ns == 50'010);
}

TEST_CASE("pings of one burst that contradict each other show a step", "[clock_map]") {
  const v1::PingBurst stepped = Burst({{0, 500, 500, 1'000}, {2'000, 12'500, 12'500, 3'000}});
  CHECK(IntervalOf(stepped).status().code() == absl::StatusCode::kAborted);
  CHECK(ClockMap::Fit(std::vector{stepped}).status().code() == absl::StatusCode::kAborted);
  CHECK(IntervalOf(v1::PingBurst()).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(ClockMap::Fit({}).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("workers on the coordinator's clock need no mapping", "[clock_map]") {
  const ClockMap map = ClockMap::Same();
  CHECK(map.same());
  CHECK(map.ToCoordinator({1'234}).ns == 1'234);
  CHECK(map.ToWorker({1'234}).ns == 1'234);
  CHECK(map.offset_ns({1'234}) == 0);
  CHECK(map.error_ns({1'234}) == 0);
}

TEST_CASE("the interval grows by 500 ppm from each burst and the bursts' are intersected", "[clock_map]") {
  // Theta in [90, 110] at 0 s and in [190, 210] at 2 s (each a ping of 20 ns).
  const auto map =
      ClockMap::Fit(std::vector{Burst({{2'000'000'000 - 10, 2'000'000'200, 2'000'000'200, 2'000'000'010}}),
                                Burst({{-10, 100, 100, 10}})});
  REQUIRE(map.ok());
  CHECK_FALSE(map->same());
  CHECK(map->offset_ns({0}) == 100);
  CHECK(map->error_ns({0}) == 10);
  // 200 us from the first burst: 0.1 us each way, far less than the second's allowance of 1 ms.
  CHECK(map->offset_ns({200'000}) == 100);
  CHECK(map->error_ns({200'000}) == 110);
  // Half way: [90 - 500,000, 110 + 500,000] and [190 - 500,000, 210 + 500,000].
  CHECK(map->offset_ns({1'000'000'000}) == 150);
  CHECK(map->error_ns({1'000'000'000}) == 499'960 + 499'960 / 1999);
  CHECK(map->offset_ns({2'000'000'000}) == 200);
  // 1 s after the last burst: its own allowance is narrower than the first burst's.
  CHECK(map->offset_ns({3'000'000'000}) == 200);
  CHECK(map->error_ns({3'000'000'000}) == 500'010 + 500'010 / 1999);
}

TEST_CASE("a clock that moves more than 500 ppm was stepped", "[clock_map]") {
  // Over 1 s theta may move by 500 us; the intervals are 20 ns wide.
  const auto fit = [](int64_t step_ns) {
    return ClockMap::Fit(std::vector{
        Burst({{-10, 0, 0, 10}}),
        Burst({{1'000'000'000 - 10, 1'000'000'000 + step_ns, 1'000'000'000 + step_ns, 1'000'000'010}})});
  };
  CHECK(fit(500'000).ok());
  CHECK(fit(-500'000).ok());
  CHECK(fit(500'021).status().code() == absl::StatusCode::kAborted);
  CHECK(fit(-500'021).status().code() == absl::StatusCode::kAborted);
}

TEST_CASE("bursts that are not neighbours must agree too", "[clock_map]") {
  // The one in the middle is too wide to contradict either.
  const auto fit = ClockMap::Fit(std::vector{Burst({{-10, 0, 0, 10}}),
                                             Burst({{1'000'000, 3'000'000, 3'000'000, 5'000'000}}),
                                             Burst({{5'999'990, 6'100'000, 6'100'000, 6'000'010}})});
  CHECK(fit.status().code() == absl::StatusCode::kAborted);
}

// Two clocks: the coordinator's is the time axis, and the theta of the worker's wanders piecewise linearly within the
// allowed drift, as if an NTP daemon slewed it.
class Clocks {
 public:
  Clocks(std::mt19937_64& random, int64_t span_ns) {
    std::uniform_real_distribution<double> offset(-1e16, 1e16);  // months, either way
    std::uniform_real_distribution<double> drift(-kMaxDriftPpm * 1e-6, kMaxDriftPpm * 1e-6);
    std::uniform_real_distribution<double> place(-1.0, 2.0);
    const int knot_count = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < knot_count; ++i) {
      knots_.push_back(static_cast<int64_t>(place(random) * static_cast<double>(span_ns)));
      slopes_.push_back(random() % 4 == 0 ? std::copysign(kMaxDriftPpm * 1e-6, drift(random))
                                          : drift(random));
    }
    std::sort(knots_.begin(), knots_.end());
    theta_at_first_knot_ = static_cast<long double>(offset(random));
  }

  long double Theta(int64_t at) const {
    long double theta = theta_at_first_knot_ + (step_at_ <= at ? step_ : 0);
    if (at < knots_.front()) return theta + static_cast<long double>(at - knots_.front()) * slopes_.front();
    for (size_t i = 0; i < knots_.size(); ++i) {
      const int64_t end = i + 1 < knots_.size() ? std::min(at, knots_[i + 1]) : at;
      if (end > knots_[i]) theta += static_cast<long double>(end - knots_[i]) * slopes_[i];
    }
    return theta;
  }
  int64_t WorkerNs(int64_t at) const { return static_cast<int64_t>(std::floor(at + Theta(at))); }

  void StepAt(int64_t at, int64_t step_ns) {
    step_at_ = at;
    step_ = static_cast<long double>(step_ns);
  }

 private:
  std::vector<int64_t> knots_;
  std::vector<double> slopes_;
  long double theta_at_first_knot_ = 0;
  int64_t step_at_ = INT64_MAX;
  long double step_ = 0;
};

// Pings over a path whose delays there and back are independent.
v1::PingBurst SimulatedBurst(std::mt19937_64& random, const Clocks& clocks, int64_t begin_ns) {
  std::uniform_real_distribution<double> magnitude(3, 7);  // 1 us to 10 ms
  const double there_ns = std::pow(10, magnitude(random));
  const double back_ns = std::pow(10, magnitude(random));
  std::exponential_distribution<double> queueing(1.0);
  std::vector<std::array<int64_t, 4>> pings;
  int64_t now_ns = begin_ns;
  const int ping_count = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < ping_count; ++i) {
    const int64_t sent = now_ns;
    const int64_t received = sent + static_cast<int64_t>(there_ns * (1 + queueing(random)));
    const int64_t replied = received + static_cast<int64_t>(random() % 50'000);
    const int64_t returned = replied + static_cast<int64_t>(back_ns * (1 + queueing(random)));
    pings.push_back({sent, clocks.WorkerNs(received), clocks.WorkerNs(replied), returned});
    now_ns = returned + static_cast<int64_t>(random() % 1'000'000);
  }
  return Burst(pings);
}

// A phase of 10 us to an hour.
int64_t RandomSpanNs(std::mt19937_64& random) {
  return static_cast<int64_t>(std::pow(10, std::uniform_real_distribution<double>(4, 12.55)(random)));
}

uint64_t RandomSeed() {
  return static_cast<uint64_t>(MonotonicNowNs());
}

TEST_CASE("whatever offset, drift and delays, a mapped time is within its error of the true one",
          "[clock_map]") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  // Clocks are read in whole nanoseconds, which moves a bound by up to 1, and answers are rounded to them.
  constexpr long double kResolutionNs = 2;
  for (int round = 0; round < 2'000; ++round) {
    const int64_t span_ns = RandomSpanNs(random);
    const Clocks clocks(random, span_ns);
    std::vector<v1::PingBurst> bursts = {SimulatedBurst(random, clocks, 0),
                                         SimulatedBurst(random, clocks, span_ns)};
    for (int during = static_cast<int>(random() % 10); during > 0; --during) {
      bursts.push_back(
          SimulatedBurst(random, clocks, static_cast<int64_t>(random() % static_cast<uint64_t>(span_ns))));
    }
    std::shuffle(bursts.begin(), bursts.end(), random);
    INFO("seed " << seed << " round " << round);
    const auto map = ClockMap::Fit(bursts);
    REQUIRE(map.ok());

    std::uniform_int_distribution<int64_t> instant(-span_ns / 2, span_ns + span_ns / 2);
    for (int i = 0; i < 50; ++i) {
      const int64_t at = instant(random);
      const long double theta = clocks.Theta(at);
      const auto error = static_cast<long double>(map->error_ns({at}));
      INFO("at " << at << " theta " << static_cast<double>(theta) << " error " << map->error_ns({at}));
      REQUIRE(std::fabs(static_cast<long double>(map->ToWorker({at}).ns) - (at + theta)) <=
              error + kResolutionNs);
      // A double resolves months to 2 ns.
      REQUIRE(std::fabs(static_cast<long double>(map->offset_ns({at})) - theta) <= error + kResolutionNs + 2);

      const CoordTime mapped = map->ToCoordinator({clocks.WorkerNs(at)});
      const auto mapped_error = static_cast<long double>(map->error_ns(mapped));
      REQUIRE(std::fabs(static_cast<long double>(mapped.ns - at)) <= mapped_error + kResolutionNs);
      REQUIRE(std::abs(map->ToCoordinator(map->ToWorker({at})) - CoordTime{at}) <= 2);
    }
  }
}

TEST_CASE("mapping keeps the order of events", "[clock_map]") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    const int64_t span_ns = RandomSpanNs(random);
    const Clocks clocks(random, span_ns);
    const auto map = ClockMap::Fit(std::vector{SimulatedBurst(random, clocks, 0),
                                               SimulatedBurst(random, clocks, span_ns / 3),
                                               SimulatedBurst(random, clocks, span_ns)});
    INFO("seed " << seed << " round " << round);
    REQUIRE(map.ok());
    int64_t at = clocks.WorkerNs(-span_ns / 10);
    CoordTime previous = map->ToCoordinator({at});
    for (int i = 0; i < 200; ++i) {
      at += 2 + static_cast<int64_t>(random() % static_cast<uint64_t>(1 + span_ns / 150));
      const CoordTime mapped = map->ToCoordinator({at});
      REQUIRE(mapped >= previous);
      previous = mapped;
    }
  }
}

TEST_CASE("a step larger than the bounds allow is found", "[clock_map]") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2'000; ++round) {
    const int64_t span_ns = 2 * kNanosPerSecond + RandomSpanNs(random);  // longer than any burst
    const int sign = random() % 2 == 0 ? 1 : -1;
    Clocks clocks(random, span_ns);
    // The uncertainty that two bursts leave: their widths, and twice the drift over the time between them (theta may
    // drift one way, and be allowed to drift the other).
    const uint64_t burst_seed = random();
    std::mt19937_64 same_random(burst_seed);
    const auto before = IntervalOf(SimulatedBurst(same_random, clocks, 0));
    const auto after = IntervalOf(SimulatedBurst(same_random, clocks, span_ns));
    const bool is_clear = before.ok() && after.ok();
    if (!is_clear) continue;  // drift within the burst already shows: allowed by Fit, not by IntervalOf
    const int64_t left_open_ns = (before->high_ns - before->low_ns) + (after->high_ns - after->low_ns) +
                                 2 * (span_ns + 4 * kNanosPerSecond) / 2'000 + 100;
    clocks.StepAt(span_ns - 1, sign * (left_open_ns + static_cast<int64_t>(random() % 1'000'000'000)));

    same_random.seed(burst_seed);
    std::vector<v1::PingBurst> bursts = {SimulatedBurst(same_random, clocks, 0),
                                         SimulatedBurst(same_random, clocks, span_ns)};
    INFO("seed " << seed << " round " << round);
    REQUIRE(ClockMap::Fit(bursts).status().code() == absl::StatusCode::kAborted);
  }
}

}  // namespace
}  // namespace iobench

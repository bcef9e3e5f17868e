// The search is run against response times of an M/M/1 queue, whose percentiles have a closed form.
#include "coordinator/analysis/capacity/slo_search.h"

#include <cmath>
#include <functional>
#include <random>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

using Kind = SloOutcome::Kind;
using Purpose = SloProbe::Purpose;

constexpr double kServicePerS = 10'000;

// p99 of the response time is ln(100) / (mu - x); limit 2 ms: x = 10,000 - 2,302.6.
const double kTruthPerS = kServicePerS - std::log(100.0) / 2e-3;

SloSearchSettings TwoMilliseconds() {
  SloSearchSettings settings;
  settings.slo = ParseSlo("p99<=2ms").value();
  settings.lowest_per_s = 300;
  settings.closed_loop_max_per_s = 9'900;
  return settings;
}

// A queue that answers with its p99 and noise that shrinks with the number of ops.
class NoisyQueue {
 public:
  explicit NoisyQueue(uint64_t seed, double noise = 1) : random_(seed), noise_(noise) {}

  SloResult Run(const SloProbe& probe) {
    const double ops = probe.offered_per_s * probe.seconds;
    const double truth_us = 1e6 * std::log(100.0) / (kServicePerS - probe.offered_per_s);
    const double error =
        noise_ * 5 / std::sqrt(ops);  // p99 of n exponential values: sqrt(0.99 / 0.01 / n) / 4.6, x 2
    const double figure_us = truth_us * (1 + error * normal_(random_));
    return {.achieved_per_s = probe.offered_per_s,
            .figure_us = figure_us,
            .low_us = figure_us * (1 - 1.96 * error),
            .high_us = figure_us * (1 + 1.96 * error),
            .ops = static_cast<uint64_t>(ops)};
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double noise_;
};

using Storage = std::function<SloResult(const SloProbe&)>;

SloSearch SearchOf(const SloSearchSettings& settings, const Storage& storage) {
  auto search = SloSearch::Create(settings);
  REQUIRE(search.ok());
  for (size_t i = 0; i < 1000 && search->Next().has_value(); ++i) search->Note(storage(*search->Next()));
  REQUIRE_FALSE(search->Next().has_value());
  CHECK(search->probes().size() <= settings.max_probes);
  CHECK_FALSE(search->outcome().text.empty());
  return *search;
}

SloResult WithP99(const SloProbe& probe, double p99_us) {
  return {.achieved_per_s = probe.offered_per_s,
          .figure_us = p99_us,
          .low_us = p99_us,
          .high_us = p99_us,
          .ops = 1'000'000};
}

TEST_CASE("the search doubles, bisects, repeats what fails, and tests both ends of the bracket") {
  // Passes up to 1,000 ops/s. 300, 600 pass, 1,200 does not; 849 passes, 1,009 does not, 925 and 966 pass.
  const SloSearch search = SearchOf(TwoMilliseconds(), [](const SloProbe& probe) {
    return WithP99(probe, probe.offered_per_s <= 1000 ? 1000 : 3000);
  });
  std::vector<std::pair<Purpose, long>> made;
  for (const JudgedProbe& judged : search.probes())
    made.emplace_back(judged.probe.purpose, std::lround(judged.probe.offered_per_s));
  std::vector<std::pair<Purpose, long>> expected = {
      {Purpose::kDouble, 300},  {Purpose::kDouble, 600}, {Purpose::kDouble, 1200}, {Purpose::kAgain, 1200},
      {Purpose::kBisect, 849},  {Purpose::kBisect, 1009}, {Purpose::kAgain, 1009}, {Purpose::kBisect, 925},
      {Purpose::kBisect, 966}};
  for (int i = 0; i < 4; ++i) expected.emplace_back(Purpose::kRetest, 966);
  expected.emplace_back(Purpose::kConfirm, 966);
  for (int i = 0; i < 5; ++i) expected.emplace_back(Purpose::kRetest, 1009);
  CHECK(made == expected);
  const SloOutcome& outcome = search.outcome();
  CHECK(outcome.kind == Kind::kFound);
  CHECK(outcome.sure);
  CHECK(std::lround(outcome.fails_at_per_s) == 1009);
  CHECK(outcome.confidence == Approx(1 - 2.0 / 32));  // five of five on either side by chance: 1/32 each
  CHECK(outcome.text ==
        "p99<=2ms is met up to 966 ops/s, but not at 1,009 ops/s (confidence 93 %: passed 5 of 5 tests at 966 ops/s, "
        "failed 5 of 5 at 1,009 ops/s).");
  CHECK(outcome.figure_us == 1000);
  CHECK(search.probes()[13].probe.seconds == Approx(3 * search.probes()[12].probe.seconds));
}

// A queue that stands still for half a second every five minutes, at any point of the search.
class StallingQueue {
 public:
  explicit StallingQueue(uint64_t seed) : random_(seed), noise_(seed + 1000) {
    now_s_ = 300 * std::uniform_real_distribution<double>(0, 1)(random_);
  }

  SloResult Run(const SloProbe& probe) {
    const double begin_s = now_s_ + 1, free_per_s = kServicePerS - probe.offered_per_s;
    now_s_ = begin_s + probe.seconds;
    const double stalls = std::floor(now_s_ / 300) - std::floor(begin_s / 300);
    // Ops that begin during a stall, or while the queue drains, wait up to half a second.
    const double delayed_s = stalls * 0.5 * (1 + probe.offered_per_s / free_per_s);
    const double delayed = std::min(1.0, delayed_s / probe.seconds);
    SloResult result = noise_.Run(probe);
    const double scale = delayed < 0.0099 ? std::log((1 - delayed) / (0.01 - delayed)) / std::log(100.0) : 0;
    if (scale > 0) {
      for (double* const us : {&result.figure_us, &result.low_us, &result.high_us}) *us *= scale;
    } else {
      result.figure_us = result.low_us = result.high_us = 5e5 * (1 - 0.01 / delayed) + 2000;
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
  NoisyQueue noise_;
  double now_s_ = 0;
};

TEST_CASE("with a stall of half a second every five minutes, 95 % of searches end within 10 % of the truth") {
  int close = 0, bracketed = 0;
  size_t probes = 0;
  constexpr int kRuns = 300;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    StallingQueue queue(seed);
    const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) { return queue.Run(probe); });
    const SloOutcome& outcome = search.outcome();
    close += std::abs(outcome.max_per_s / kTruthPerS - 1) <= 0.1;
    bracketed += outcome.max_per_s <= kTruthPerS * 1.01 && kTruthPerS <= outcome.fails_at_per_s * 1.01;
    probes += search.probes().size();
  }
  INFO(close << " close, " << bracketed << " bracketed, " << probes / kRuns << " probes on average");
  CHECK(close >= 0.95 * kRuns);
  CHECK(bracketed >= 0.9 * kRuns);
}

TEST_CASE("probes are long enough for the ops that the percentile needs") {
  SloSearchSettings settings = TwoMilliseconds();
  CHECK(SloSearch::Create(settings)->Next()->seconds == Approx(10'300 / 300.0));
  settings.lowest_per_s = 10;
  CHECK(SloSearch::Create(settings)->Next()->seconds == 80);  // the longest
  settings.lowest_per_s = 9000;
  CHECK(SloSearch::Create(settings)->Next()->seconds == 10);
}

TEST_CASE("the search finds the load of a noisy queue within 5 %") {
  int close = 0, found = 0;
  size_t most = 0;
  constexpr int kRuns = 300;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    NoisyQueue queue(seed);
    const SloSearch search =
        SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) { return queue.Run(probe); });
    found += search.outcome().kind == Kind::kFound;
    close += std::abs(search.outcome().max_per_s / kTruthPerS - 1) <= 0.05;
    most = std::max(most, search.probes().size());
  }
  INFO(found << " found, " << close << " close, at most " << most << " probes");
  CHECK(found >= 0.99 * kRuns);
  CHECK(close >= 0.97 * kRuns);
}

TEST_CASE("an SLO that cannot be met at the lowest load has that outcome") {
  SloSearchSettings settings = TwoMilliseconds();
  settings.longer_begins_lower = GENERATE(false, true);
  const SloSearch search = SearchOf(settings, [](const SloProbe& probe) { return WithP99(probe, 2001); });
  CHECK(search.outcome().kind == Kind::kCannotBeMet);
  CHECK(search.outcome().max_per_s == 0);
  CHECK(search.probes().size() == 2);  // a single failure does not decide
  CHECK(search.outcome().text ==
        std::string(
            "p99<=2ms cannot be met at the lowest load, 300 ops/s: p99 2.001 ms is over 2 ms. Allow longer "
            "response times") +
            (settings.longer_begins_lower ? ", or use a longer --time, with which the search can begin lower."
                                          : "."));
}

TEST_CASE("an SLO that is met at the closed-loop maximum sets no limit") {
  const SloSearch search =
      SearchOf(TwoMilliseconds(), [](const SloProbe& probe) { return WithP99(probe, 500); });
  CHECK(search.outcome().kind == Kind::kMetUpToMax);
  CHECK(search.outcome().max_per_s == 9'900);
  CHECK(search.probes().back().probe.purpose == Purpose::kConfirm);
  CHECK(search.probes().size() == 12);  // 300 … 4,800, 9,600, 9,900, four tests, and its confirmation
  CHECK(search.outcome().confidence == Approx(1 - 1.0 / 32));
}

TEST_CASE(
    "a load that the clients cannot offer, or whose ops fail, bounds the search, and the outcome says so") {
  const bool ops_fail = GENERATE(false, true);
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    SloResult result = WithP99(probe, 500);
    if (probe.offered_per_s <= 2000) return result;
    result.achieved_per_s = 2000;
    result.generator_bound = true;
    if (ops_fail) result.errors = 3;
    return result;
  });
  CHECK(search.outcome().kind == Kind::kGeneratorBound);
  CHECK(search.outcome().max_per_s <= 2000);
  CHECK(search.outcome().max_per_s >= 2000 / 1.05);
  const std::string& text = search.outcome().text;
  CHECK(text.starts_with("p99<=2ms is met at "));
  CHECK(text.ends_with(
      ops_fail
          ? " ops/s could not be measured: 3 ops failed. The true limit may be higher."
          : " ops/s could not be measured: the clients could not generate this load (generator_bound). The true "
            "limit may be higher."));
}

TEST_CASE("an invalid probe is repeated once") {
  int failures = GENERATE(1, 2);
  const int given = failures;
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    SloResult result = WithP99(probe, 500);
    if (failures-- > 0) result.errors = 3;
    return result;
  });
  CHECK(search.outcome().kind == (given == 1 ? Kind::kMetUpToMax : Kind::kInvalid));
  CHECK(search.probes()[0].judgement.verdict == SloVerdict::kInvalid);
  CHECK(search.probes()[0].probe.offered_per_s == search.probes()[1].probe.offered_per_s);
  if (given == 2) {
    CHECK(
        search.outcome().text ==
        "Nothing could be measured at the lowest load, 300 ops/s: 3 ops failed. The run's report lists the failed "
        "ops.");
  }
}

TEST_CASE("a search that ends at its lowest load says what to do about the reason") {
  const auto text_of = [](const std::function<void(SloResult&)>& spoil) {
    return SearchOf(TwoMilliseconds(),
                    [&](const SloProbe& probe) {
                      SloResult result = WithP99(probe, 500);
                      spoil(result);
                      return result;
                    })
        .outcome()
        .text;
  };
  CHECK(text_of([](SloResult& result) {
          result.generator_bound = true;
        }).ends_with("Use more lanes (-t) or more clients."));
  CHECK(text_of([](SloResult& result) {
          result.done_share = 0.5;
        }).ends_with("Use more lanes (-t) or more clients."));
  CHECK(text_of([](SloResult& result) {
          result.done_share = std::nan("");
        }).ends_with("measure longer (--time) or offer a higher load."));
  const std::string unclear = text_of([](SloResult& result) {
    result.figure_us = result.high_us = 2100;
    result.low_us = 1900;
  });
  CHECK(
      unclear.starts_with("It is unknown whether p99<=2ms is met at the lowest load, 300 ops/s: p99 2.1 ms"));
  CHECK(unclear.ends_with("Use a longer --time."));
}

TEST_CASE("a lost worker ends the search") {
  const SloSearch search = SearchOf(TwoMilliseconds(), [](const SloProbe& probe) {
    SloResult result = WithP99(probe, 500);
    result.worker_lost = probe.offered_per_s > 1000;
    return result;
  });
  CHECK(search.outcome().kind == Kind::kInvalid);
  CHECK(search.outcome().max_per_s == 0);
}

TEST_CASE("an inconclusive probe is prolonged up to the longest one, then counts by its figure") {
  SloSearchSettings settings = TwoMilliseconds();
  settings.lowest_per_s = 1100;  // 10 s are enough
  const double figure_us = GENERATE(1950.0, 2050.0);
  const SloSearch search = SearchOf(settings, [&](const SloProbe& probe) {
    SloResult result = WithP99(probe, figure_us);
    result.low_us = 1900;
    result.high_us = 2100;
    return result;
  });
  const auto probes = search.probes();
  REQUIRE(probes.size() >= 4);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(probes[i].probe.offered_per_s == 1100);
    CHECK(probes[i].probe.seconds == Approx(10 * std::pow(2, i)));
  }
  if (figure_us > 2000) {
    CHECK(search.outcome().kind == Kind::kInconclusive);
    CHECK(search.outcome().max_per_s == 0);
    CHECK(probes.size() == 4);
  } else {
    CHECK(search.outcome().kind == Kind::kMetUpToMax);
    CHECK_FALSE(search.outcome().sure);
    CHECK(search.outcome().text.find("This is not certain: p99 1.95 ms (1.9 ms to 2.1 ms) is too close") !=
          std::string::npos);
  }
}

TEST_CASE("storage that slows down meanwhile does not pass the second test") {
  int probes = 0;
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    const double limit = ++probes <= 7 ? 1000 : 800;
    return WithP99(probe, probe.offered_per_s <= limit ? 1000 : 3000);
  });
  CHECK(search.outcome().kind == Kind::kFound);
  CHECK(search.outcome().max_per_s <= 800);
  CHECK(search.outcome().max_per_s >= 800 / 1.05);
}

TEST_CASE("a lowest load that passes only at first is not said to be too high") {
  int probes = 0;
  const bool ops_fail = GENERATE(false, true);
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    SloResult result = WithP99(probe, ++probes == 1 || ops_fail ? 1000 : 3000);
    if (ops_fail && probes > 1) result.errors = 3;
    return result;
  });
  CHECK(search.probes().back().probe.purpose == Purpose::kRetest);
  CHECK(search.outcome().kind == Kind::kInconclusive);
  CHECK(search.outcome().max_per_s == 0);
  CHECK(
      search.outcome().text ==
      std::string("The lowest load, 300 ops/s, passed at first, but not when it was tested again: ") +
          (ops_fail
               ? "3 ops failed. The run's report lists the failed ops."
               : "p99 3 ms is over 2 ms. The storage may have slowed down: repeat the search when it is steady, "
                 "or use a longer --time."));
}

TEST_CASE("a load that passes for a short time only is not confirmed") {
  const SloSearch search = SearchOf(TwoMilliseconds(), [](const SloProbe& probe) {
    const double limit = probe.purpose == Purpose::kConfirm ? 900 : 1000;
    return WithP99(probe, probe.offered_per_s <= limit ? 1000 : 3000);
  });
  CHECK(search.outcome().kind == Kind::kFound);
  CHECK(search.outcome().max_per_s <= 900);
  CHECK(search.outcome().max_per_s >= 900 / 1.05);
}

TEST_CASE("the number of probes is bounded") {
  SloSearchSettings settings = TwoMilliseconds();
  settings.max_probes = 5;
  NoisyQueue queue(1);
  const SloSearch search = SearchOf(settings, [&](const SloProbe& probe) { return queue.Run(probe); });
  CHECK(search.outcome().kind == Kind::kInconclusive);
  CHECK(search.probes().size() == 5);
  CHECK(search.outcome().max_per_s == 4800);
  CHECK(
      search.outcome().text ==
      "The search did not end within 5 probes, from 300 ops/s to 4,800 ops/s. 4,800 ops/s passed, but this is not "
      "confirmed: use a longer --time.");
}

TEST_CASE(
    "a search that runs out of probes after a step down does not call its load the highest that passed") {
  SloSearchSettings settings = TwoMilliseconds();
  settings.max_probes = 12;
  const SloSearch search = SearchOf(settings, [&](const SloProbe& probe) {
    // 966 passes, but not when it is tested again; 920 does, and 925 did before.
    const double limit = probe.purpose == Purpose::kRetest ? 950 : 1000;
    return WithP99(probe, probe.offered_per_s <= limit ? 1000 : 3000);
  });
  CHECK(search.probes()[9].probe.purpose == Purpose::kRetest);
  CHECK(search.probes()[9].judgement.verdict == SloVerdict::kFail);
  CHECK(search.outcome().max_per_s == Approx(966.3 / 1.05).epsilon(0.001));
  CHECK(
      search.outcome().text ==
      "The search did not end within 12 probes, from 300 ops/s to 1,200 ops/s. 920 ops/s passed, but this is not "
      "confirmed: use a longer --time.");
}

TEST_CASE("a load that was never offered is no result of a search that runs out of probes") {
  int probes = 0;
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    const double limit = ++probes <= 10 ? 9000 : 400;  // over 60 steps of 5 % lower
    return WithP99(probe, probe.offered_per_s <= limit ? 1000 : 3000);
  });
  CHECK(search.outcome().kind == Kind::kInconclusive);
  CHECK(search.probes().size() == 60);
  CHECK(search.outcome().max_per_s == 0);
  CHECK(
      search.outcome().text ==
      "The search did not end within 60 probes, from 300 ops/s to 9,600 ops/s. Loads that passed at first did not "
      "pass later, down to 2,866 ops/s: p99 3 ms is over 2 ms. The storage may have slowed down: repeat the search when "
      "it is steady, or use a longer --time.");
}

TEST_CASE("a search that runs out of probes because ops failed does not claim that the storage slowed down") {
  int probes = 0;
  const SloSearch search = SearchOf(TwoMilliseconds(), [&](const SloProbe& probe) {
    SloResult result = WithP99(probe, probe.offered_per_s <= 9000 ? 1000 : 3000);
    if (++probes == 1 || probes > 11) result.errors = 3;  // the first one is repeated and passes
    return result;
  });
  CHECK(search.outcome().kind == Kind::kInconclusive);
  CHECK(search.probes().size() == 60);
  CHECK(search.outcome().max_per_s == 0);
  const std::string& text = search.outcome().text;
  CHECK(text.find("slowed down") == std::string::npos);
  CHECK(text.find("down to 300 ops/s") == std::string::npos);
  CHECK(text.ends_with(" ops/s: 3 ops failed. The run's report lists the failed ops."));
}

TEST_CASE(
    "a search that runs out of probes before any load passes does not claim that the storage slowed down") {
  SloSearchSettings settings = TwoMilliseconds();
  settings.lowest_per_s = 1100;
  settings.max_probes = 2;
  const SloSearch search = SearchOf(settings, [](const SloProbe& probe) {
    SloResult result = WithP99(probe, 1950);
    result.low_us = 1900;
    result.high_us = 2100;
    return result;
  });
  CHECK(search.outcome().kind == Kind::kInconclusive);
  CHECK(search.outcome().max_per_s == 0);
  CHECK(
      search.outcome().text ==
      "The search did not end within 2 probes at 1,100 ops/s: p99 1.95 ms (1.9 ms to 2.1 ms) is too close to 2 ms to "
      "tell. Use a longer --time.");
}

TEST_CASE("a search that cannot be made is refused") {
  const auto refused = [](const std::function<void(SloSearchSettings&)>& change) {
    SloSearchSettings settings = TwoMilliseconds();
    change(settings);
    return SloSearch::Create(settings).status().code() == absl::StatusCode::kInvalidArgument;
  };
  CHECK_FALSE(refused([](SloSearchSettings&) {}));
  CHECK(refused([](SloSearchSettings& settings) { settings.lowest_per_s = 0; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.lowest_per_s = 10'000; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.closed_loop_max_per_s = INFINITY; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.probe_s = 0; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.max_probe_s = 5; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.tolerance = 0; }));
  CHECK(refused([](SloSearchSettings& settings) { settings.max_probes = 0; }));
}

}  // namespace
}  // namespace iobench

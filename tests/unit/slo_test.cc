#include "coordinator/analysis/capacity/slo.h"

#include "catch2/catch.hpp"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

Slo Parsed(const std::string& text) {
  const auto slo = ParseSlo(text);
  REQUIRE(slo.ok());
  return *slo;
}

// 1,000 ops/s offered and done, with an interval of +-5 %.
SloResult Measured(double figure_us) {
  return {.achieved_per_s = 1000,
          .figure_us = figure_us,
          .low_us = 0.95 * figure_us,
          .high_us = 1.05 * figure_us,
          .ops = 20'000};
}

TEST_CASE("an SLO is a figure of response time and its limit") {
  CHECK(Parsed("p99<=10ms").figure == Figure::kP99);
  CHECK(Parsed("p99<=10ms").limit_us == 10'000);
  CHECK(Parsed("p99<=10ms").limit_included);
  CHECK(Parsed("mean<5ms").figure == Figure::kMean);
  CHECK_FALSE(Parsed("mean<5ms").limit_included);
  CHECK(Parsed("p99.9 <= 50 ms").figure == Figure::kP99_9);
  CHECK(Parsed("p99.9 <= 50 ms").text == "p99.9<=50ms");
  CHECK(Parsed("max<=1s").limit_us == 1e6);
  CHECK(Parsed("p50<=250us").limit_us == 250);
}

TEST_CASE("what is no SLO is refused with the syntax") {
  for (const char* text : {"", "p99", "p99>=10ms", "p98<=10ms", "p99<=10", "p99<=10MiB/s", "p99<=0ms",
                           "p99<=-1ms", "jain<=0.5", "write<=900MiB/s", "write:p99<=10ms", "p99=10ms",
                           "marks=none", "p99<<=10ms", "p99<=10ms<=5ms", "<=10ms"}) {
    const auto slo = ParseSlo(text);
    INFO(text);
    REQUIRE_FALSE(slo.ok());
    CHECK(slo.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(slo.status().message().find("p99<=10ms, mean<5ms") != std::string::npos);
  }
}

TEST_CASE("the limit itself meets <= and not <") {
  CHECK(Meets(Parsed("p99<=10ms"), 10'000));
  CHECK_FALSE(Meets(Parsed("p99<10ms"), 10'000));
  CHECK(Meets(Parsed("p99<10ms"), 9'999));
}

TEST_CASE("a percentile needs a hundred ops beyond it") {
  CHECK(NeededOps(Parsed("p50<=10ms")) == 200);
  CHECK(NeededOps(Parsed("p95<=10ms")) == 2'000);
  CHECK(NeededOps(Parsed("p99<=10ms")) == 10'000);
  CHECK(NeededOps(Parsed("p99.9<=10ms")) == 100'000);
  CHECK(NeededOps(Parsed("mean<=10ms")) == 100);
  CHECK(SecondsForNeededOps(Parsed("mean<=10ms"), 10) == 13);     // 100 + 3 x 10 ops
  CHECK(SecondsForNeededOps(Parsed("p99<=10ms"), 1000) == 10.3);  // 10,000 + 3 x 100 ops
}

TEST_CASE("a measurement passes or fails by its whole interval") {
  const Slo slo = Parsed("p99<=10ms");
  CHECK(JudgeSlo(slo, Measured(9000)).verdict == SloVerdict::kPass);
  CHECK(JudgeSlo(slo, Measured(9000)).reason == "p99 9 ms is within 10 ms");
  CHECK(JudgeSlo(slo, Measured(11'000)).verdict == SloVerdict::kFail);
  CHECK(JudgeSlo(slo, Measured(9800)).verdict == SloVerdict::kInconclusive);
  CHECK(JudgeSlo(slo, Measured(10'200)).verdict == SloVerdict::kInconclusive);
  SloResult few = Measured(5000);
  few.ops = 9999;
  CHECK(JudgeSlo(slo, few).verdict == SloVerdict::kInconclusive);
}

TEST_CASE("too few ops for a percentile fail it if a lower percentile is over the limit") {
  SloResult few{.figure_us = 20'000, .low_us = 20'000, .high_us = 20'000, .ops = 93};
  const auto judged = [&](const char* slo) { return JudgeSlo(Parsed(slo), few); };
  few.percentiles_us = {12'000, 15'000, 20'000, 20'000};
  CHECK(judged("p99<=10ms").verdict == SloVerdict::kFail);  // 46 of 93 ops took longer, and one may
  CHECK(judged("p99<=10ms").reason == "even p50, 12 ms, is over 10 ms");
  CHECK(judged("p50<=10ms").verdict == SloVerdict::kInconclusive);  // it is the figure itself
  CHECK(judged("p99<=14ms").verdict == SloVerdict::kInconclusive);  // 9 of 93 ops
  few.ops = 100;
  CHECK(judged("p99<=14ms").reason == "even p90, 15 ms, is over 14 ms");
  few.ops = 19;
  CHECK(judged("p99<=10ms").verdict == SloVerdict::kInconclusive);
  CHECK(judged("max<=19ms").verdict == SloVerdict::kFail);  // one op is enough
  CHECK(judged("max<=21ms").verdict == SloVerdict::kInconclusive);
  few.percentiles_us = SloResult().percentiles_us;
  few.ops = 9000;
  CHECK(judged("p99<=10ms").verdict == SloVerdict::kInconclusive);
}

TEST_CASE("a measurement of another load than the offered one is invalid") {
  const Slo slo = Parsed("p99<=10ms");
  const auto verdict = [&](const SloResult& result) { return JudgeSlo(slo, result).verdict; };
  SloResult result = Measured(5000);
  SECTION("a lost worker") {
    result.worker_lost = true;
  }
  SECTION("errors") {
    result.errors = 1;
  }
  SECTION("a late generator") {
    result.generator_bound = true;
  }
  SECTION("less than 99 % done") {
    result.done_share = 0.989;
  }
  SECTION("no rate") {
    result.done_share = std::numeric_limits<double>::quiet_NaN();
  }
  SECTION("no response time") {
    result.figure_us = 0;
  }
  CHECK(verdict(result) == SloVerdict::kInvalid);
  result = Measured(5000);
  result.done_share = 0.991;
  CHECK(verdict(result) == SloVerdict::kPass);
}

TEST_CASE("verdicts have names") {
  CHECK(std::string(NameOf(SloVerdict::kPass)) == "pass");
  CHECK(std::string(NameOf(SloVerdict::kFail)) == "fail");
  CHECK(std::string(NameOf(SloVerdict::kInconclusive)) == "inconclusive");
  CHECK(std::string(NameOf(SloVerdict::kInvalid)) == "invalid");
}

}  // namespace
}  // namespace iobench

#include "worker/lane/pauses.h"

#include <catch2/catch.hpp>
#include <vector>

namespace iobench {
namespace {

constexpr int64_t kMs = 1'000'000;

// Time passes during sleeps and ops, and by 1 us each time the clock is read.
class FakeClock final : public PauseClock {
 public:
  int64_t NowNs() override { return now_ns_ += 1000; }
  void SleepUntilNs(int64_t ns) override {
    sleeps_.push_back(ns - now_ns_);
    now_ns_ = std::max(now_ns_, ns);
  }
  void Pass(int64_t ns) { now_ns_ += ns; }
  int64_t now_ns() const { return now_ns_; }
  const std::vector<int64_t>& sleeps() const { return sleeps_; }

 private:
  int64_t now_ns_ = 5'000 * kMs;
  std::vector<int64_t> sleeps_;
};

struct PausesUnderTest {
  FakeClock clock;
  StopCell stop;
  std::unique_ptr<Pauses> pauses;
  int64_t begin_ns = 0;

  explicit PausesUnderTest(const v1::Between& between) {
    auto made = Pauses::Create(between, stop, clock);
    REQUIRE(made.ok());
    pauses = *std::move(made);
    REQUIRE(pauses != nullptr);
    begin_ns = clock.now_ns();
  }
  // Does an op that takes `op_ns`; returns when it began, in ms since begin_ns.
  double Do(int64_t op_ns = 0, OpKind kind = OpKind::kWrite, uint32_t length = 4096) {
    const Op op{kind, 0, 0, length};
    pauses->Before(op);
    const double begun_ms = static_cast<double>(clock.now_ns() - begin_ns) / kMs;
    clock.Pass(op_ns);
    pauses->After(op);
    return begun_ms;
  }
};

v1::Between Pace(double ops_per_s) {
  v1::Between between;
  between.set_ops_per_s(ops_per_s);
  return between;
}

TEST_CASE("nothing asked for is nothing made") {
  StopCell stop;
  v1::Between between;
  between.set_processor_cache_bytes(1 << 20);  // says how to purge the cache, not to do so
  REQUIRE(Pauses::Create(between, stop, RealPauseClock()).value() == nullptr);
}

TEST_CASE("a pace is kept by due times, so that what ops take adds up to no drift") {
  PausesUnderTest test(Pace(100));
  for (int op = 0; op < 1000; ++op) {
    REQUIRE(test.Do(3 * kMs) == Approx(10.0 * op).margin(0.01));
  }
}

TEST_CASE("a pace is not limited to a thousand, nor to whole numbers") {
  PausesUnderTest test(Pace(30'000));  // one every 33.3 us
  double last_ms = 0;
  for (int op = 0; op < 3000; ++op) last_ms = test.Do();
  REQUIRE(last_ms == Approx(2999 / 30.0).margin(0.01));
}

TEST_CASE("after a stall one interval is made up for, no more") {
  PausesUnderTest test(Pace(100));
  REQUIRE(test.Do(kMs) == Approx(0).margin(0.01));
  REQUIRE(test.Do(kMs) == Approx(10).margin(0.01));
  REQUIRE(test.Do(35 * kMs) == Approx(20).margin(0.01));  // the ops due at 30, 40 and 50 are late
  REQUIRE(test.Do(kMs) == Approx(55).margin(0.01));       // at once
  REQUIRE(test.Do(kMs) == Approx(56).margin(0.01));       // the one interval
  REQUIRE(test.Do(kMs) == Approx(65).margin(0.01));
  REQUIRE(test.Do(kMs) == Approx(75).margin(0.01));
}

TEST_CASE("think time is spent busy before each op, and left out unless it is to count") {
  v1::Between between;
  between.set_think_ms(2.5);
  for (const bool counts : {false, true}) {
    between.set_think_in_throughput(counts);
    PausesUnderTest test(between);
    for (int op = 0; op < 4; ++op) {
      REQUIRE(test.Do(kMs) == Approx(2.5 * (op + 1) + op).margin(0.05));
    }
    REQUIRE(test.clock.sleeps().empty());
    REQUIRE(static_cast<double>(test.pauses->left_out_ns()) ==
            Approx(counts ? 0.0 : 10.0 * kMs).margin(0.05 * kMs));
  }
}

TEST_CASE("after so many bytes a lane flushes and pauses, and only the pause is left out") {
  v1::Between between;
  between.set_burst_bytes(12'288);
  between.set_burst_pause_ms(50);
  PausesUnderTest test(between);
  int flush_count = 0;
  test.pauses->FlushWith([&] {
    ++flush_count;
    test.clock.Pass(7 * kMs);
    return absl::OkStatus();
  });
  const std::vector<double> begins = {0, 1, 2, 60, 61, 62, 120};
  for (const double begin_ms : begins) REQUIRE(test.Do(kMs) == Approx(begin_ms).margin(0.1));
  REQUIRE(flush_count == 2);
  REQUIRE(static_cast<double>(test.pauses->left_out_ns()) == Approx(100.0 * kMs).margin(0.1 * kMs));
}

TEST_CASE("a burst of reads has nothing to flush") {
  v1::Between between;
  between.set_burst_bytes(4096);
  between.set_burst_pause_ms(1);
  PausesUnderTest test(between);
  test.pauses->FlushWith([] { return absl::InternalError("flushed"); });
  for (int op = 0; op < 3; ++op) test.Do(0, OpKind::kRead);
  REQUIRE(test.pauses->flush_status().ok());
  test.Do(0, OpKind::kWrite);
  test.Do(0, OpKind::kWrite);
  REQUIRE(test.pauses->flush_status().code() == absl::StatusCode::kInternal);
}

TEST_CASE("a stop ends every wait, also a long one that has begun") {
  PausesUnderTest test(Pace(0.01));
  test.Do();
  test.stop.stop = true;
  REQUIRE(test.Do() < 1);
  for (const int64_t sleep_ns : test.clock.sleeps()) REQUIRE(sleep_ns <= 20 * kMs);
}

TEST_CASE("a deadline ends every wait when it comes") {
  PausesUnderTest test(Pace(0.01));
  test.pauses->EndAt(test.begin_ns + 300 * kMs);
  test.Do();
  REQUIRE(test.Do() == Approx(300).margin(0.1));
  for (const int64_t sleep_ns : test.clock.sleeps()) REQUIRE(sleep_ns <= 20 * kMs);
}

TEST_CASE("think and purge do not disturb a pace that has room for them") {
  v1::Between between = Pace(100);
  between.set_think_ms(4);
  between.set_purge_processor_cache(true);
  between.set_processor_cache_bytes(64 << 10);
  between.set_processor_cache_line_bytes(64);
  PausesUnderTest test(between);
  const double first_ms = test.Do(kMs);
  for (int op = 1; op < 20; ++op) REQUIRE(test.Do(kMs) - first_ms == Approx(10.0 * op).margin(0.01));
}

}  // namespace
}  // namespace iobench

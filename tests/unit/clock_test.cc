#include "common/clock.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <climits>
#include <cstdlib>
#include <limits>
#include <regex>
#include <string>

#include "common/not_a_number.h"
#include "common/time.h"

namespace iobench {
namespace {

TEST_CASE("a scale is the line through its two pairs, exact at both", "[clock]") {
  // 2.5 ticks a nanosecond.
  const TickPair early{{1'000'000}, 500, 0};
  const TickPair late{{3'500'000}, 1'000'500, 0};
  const TickScale scale(TickSource::kTsc, early, late);
  CHECK(scale.ToMonotonicNs(early.ticks) == 500);
  CHECK(scale.ToMonotonicNs(late.ticks) == 1'000'500);
  CHECK(scale.ToMonotonicNs({2'250'000}) == 500'500);
  CHECK(scale.ToMonotonicNs({999'000}) == 100);          // before the first pair
  CHECK(scale.ToMonotonicNs({6'000'000}) == 2'000'500);  // after the last
  CHECK(scale.ToTicks(500).value == 1'000'000);
  CHECK(scale.ToTicks(100).value == 999'000);
  CHECK(scale.ToTicks(1'000'500).value == 3'500'000);
  CHECK(scale.DurationNs(0) == 0);
  CHECK(scale.DurationNs(2'500) == 999);  // 0.4 is not exact in binary; truncated, not rounded
  CHECK(scale.DurationNs(2'502) == 1'000);
  CHECK(scale.DurationTicks(1'000) == 2'500);
  CHECK(scale.DurationTicks(0) == 0);
  CHECK(scale.DurationTicks(-5) == 0);
  CHECK(scale.source() == TickSource::kTsc);
}

TEST_CASE("a long phase at a rate that no double holds is still exact at both ends", "[clock]") {
  // A day at 2.1 GHz and a bit.
  const TickPair early{{777}, 4'000'000'000'000'000, 0};
  const TickPair late{{777 + 181'440'000'013'571}, 4'000'000'000'000'000 + 86'400'000'000'007, 0};
  const TickScale scale(TickSource::kTsc, early, late);
  CHECK(scale.ToMonotonicNs(early.ticks) == early.monotonic_ns);
  CHECK(scale.ToMonotonicNs(late.ticks) == late.monotonic_ns);
  // A duration of an hour by multiply and shift: its rate is good to 2^-33 in 0.47.
  const auto hour_ticks = static_cast<uint64_t>(3600e9 / 86'400'000'000'007.0 * 181'440'000'013'571.0);
  CHECK(static_cast<double>(scale.DurationNs(hour_ticks)) == Approx(3600e9).epsilon(1e-9));
}

TEST_CASE("ticks of the monotonic clock are nanoseconds", "[clock]") {
  const TickPair early = ReadTickPair(TickSource::kMonotonic);
  CHECK(early.bracket_ns == 0);
  CHECK(early.ticks.value == static_cast<uint64_t>(early.monotonic_ns));
  const TickScale scale(TickSource::kMonotonic, early, ReadTickPair(TickSource::kMonotonic));
  CHECK(scale.ToMonotonicNs({early.ticks.value + 123}) == early.monotonic_ns + 123);
  CHECK(scale.ToTicks(early.monotonic_ns - 5).value == early.ticks.value - 5);
  CHECK(scale.DurationNs(123'456'789'012) == 123'456'789'012);
  CHECK(scale.DurationTicks(123'456'789'012) == 123'456'789'012);
}

TEST_CASE("seconds are rounded to the nearest nanosecond", "[clock]") {
  static_assert(NanosFrom(0.5) == 500'000'000);
  CHECK(NanosFrom(1.001) == 1'001'000'000);  // its double x 1e9 is 1,000,999,999.9999999
  CHECK(NanosFrom(-1.001) == -1'001'000'000);
  CHECK(NanosFrom(4e-10) == 0);
  CHECK(NanosFrom(6e-10) == 1);
  CHECK(NanosFrom(-6e-10) == -1);
  CHECK(NanosFrom(1e7) == 10'000'000'000'000'000);
  int wrong = 0;
  for (int64_t ms = 1; ms <= 100'000; ++ms)
    wrong += NanosFrom(static_cast<double>(ms) / 1e3) != ms * 1'000'000;
  CHECK(wrong == 0);
  for (const int64_t ns : {int64_t{1}, int64_t{1'234'567'890'123}, int64_t{1'000'000'000'000'001}})
    CHECK(NanosFrom(SecondsFrom(ns)) == ns);
}

TEST_CASE("seconds out of range are the longest time, and no number is none", "[clock]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double seconds : {1e10, 1e300, kInfinity}) {
    CHECK(NanosFrom(seconds) == kMaxNanos);
    CHECK(NanosFrom(-seconds) == -kMaxNanos);
  }
  CHECK(NanosFrom(4e9) == 4'000'000'000 * kNanosPerSecond);
  CHECK(NanosFrom(kNaN) == 0);
}

TEST_CASE("a pair is read between what the clock shows before and after", "[clock]") {
  for (TickSource source : {ChosenTickSource(), TickSource::kMonotonic}) {
    const int64_t before_ns = MonotonicNowNs();
    const TickPair pair = ReadTickPair(source);
    const int64_t after_ns = MonotonicNowNs();
    CHECK(pair.monotonic_ns >= before_ns);
    CHECK(pair.monotonic_ns <= after_ns);
    CHECK(pair.bracket_ns >= 0);
    CHECK(pair.bracket_ns <= after_ns - before_ns);
  }
}

TEST_CASE("the current scale tells the time that the monotonic clock tells", "[clock]") {
  const TickSource source = ChosenTickSource();
  const TickScale scale = CurrentTickScale();
  REQUIRE(scale.source() == source);
  for (int i = 0; i < 100; ++i) {
    const int64_t before_ns = MonotonicNowNs();
    const Ticks ticks = source == TickSource::kTsc ? TscClock::Now() : MonotonicClock::Now();
    const int64_t after_ns = MonotonicNowNs();
    // 100 ppm of a hundredth of a second, and some reordering of the reads.
    CHECK(scale.ToMonotonicNs(ticks) >= before_ns - 1'000);
    CHECK(scale.ToMonotonicNs(ticks) <= after_ns + 1'000);
  }
}

TEST_CASE("a worker's clock is the monotonic clock moved by its offset", "[clock]") {
  const WorkerClock moved(-3'600 * kNanosPerSecond);
  CHECK(moved.offset_ns() == -3'600 * kNanosPerSecond);
  const int64_t before_ns = MonotonicNowNs();
  const WorkerTime now = moved.Now();
  const int64_t after_ns = MonotonicNowNs();
  CHECK(now.ns >= before_ns - 3'600 * kNanosPerSecond);
  CHECK(now.ns <= after_ns - 3'600 * kNanosPerSecond);
}

TEST_CASE("a sleeper wakes up when its own clock has reached the time, not before", "[clock]") {
  for (int64_t offset_ns : {int64_t{0}, 3'600 * kNanosPerSecond, -3'600 * kNanosPerSecond}) {
    const WorkerClock clock(offset_ns);
    const WorkerTime until = clock.Now() + 2'000'000;
    clock.SleepUntil(until);
    CHECK(clock.Now() >= until);
  }
}

TEST_CASE("a time that is past is not slept for, however long ago", "[clock]") {
  const WorkerClock clock(5 * kNanosPerSecond);
  rusage before{}, after{};
  REQUIRE(::getrusage(RUSAGE_THREAD, &before) == 0);
  for (int i = 0; i < 100; ++i) {
    clock.SleepUntil(clock.Now());
    clock.SleepUntil({0});
    clock.SleepUntil({INT64_MIN / 2});
  }
  REQUIRE(::getrusage(RUSAGE_THREAD, &after) == 0);
  // Each sleep gives up the processor; a page fault may do so, too.
  CHECK(after.ru_nvcsw - before.ru_nvcsw < 100);
}

TEST_CASE("wall time is ISO 8601 UTC with milliseconds", "[clock]") {
  const std::string now = WallClockIso8601();
  CHECK(std::regex_match(now, std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d\d\dZ)")));
}

TEST_CASE("reading the clock costs something", "[clock]") {
  CHECK(MeasureClockReadNs(TickSource::kMonotonic) > 0);
  CHECK(MeasureClockReadNs(ChosenTickSource()) > 0);
}

TEST_CASE("tick sources have names", "[clock]") {
  CHECK(std::string(NameOf(TickSource::kTsc)) == "tsc");
  CHECK(std::string(NameOf(TickSource::kMonotonic)) == "monotonic");
}

// Run by the next test in a process of its own: the source is chosen once per process.
TEST_CASE("child: the chosen source is monotonic", "[.][chosen-source-child]") {
  CHECK(ChosenTickSource() == TickSource::kMonotonic);
  CHECK(CurrentTickScale().source() == TickSource::kMonotonic);
  CHECK(CurrentTickScale().DurationNs(12'345) == 12'345);
}

TEST_CASE("CLUSTER_IOBENCH_CLOCK=monotonic overrules the choice", "[clock]") {
  char self[PATH_MAX] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
  const std::string child = "'" + std::string(self) + "' '[chosen-source-child]' >/dev/null";
  CHECK(std::system(("CLUSTER_IOBENCH_CLOCK=monotonic " + child).c_str()) == 0);
  // Without the variable the child's answer is this machine's own choice.
  const bool is_monotonic_here = ChosenTickSource() == TickSource::kMonotonic;
  CHECK((std::system(child.c_str()) == 0) == is_monotonic_here);
}

}  // namespace
}  // namespace iobench

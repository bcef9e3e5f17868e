#include "common/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

// Two pairs at this distance give the rate to a few ppm, because each pair is accurate to about 20 ns.
constexpr int64_t kShortestBaseNs = 5'000'000;
// An interrupt between the readings spoils a try, but hardly ever ten in a row.
constexpr int kPairTries = 10;

int64_t NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

bool CpuTscIsInvariant() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.compare(0, 5, "flags") != 0) continue;
    bool constant = false;
    bool nonstop = false;
    for (absl::string_view flag : absl::StrSplit(line, absl::ByAnyChar(" \t:"), absl::SkipEmpty())) {
      constant |= flag == "constant_tsc";
      nonstop |= flag == "nonstop_tsc";
    }
    return constant && nonstop;  // all processors of a host are alike
  }
  return false;
}

// The kernel compares the TSC with other clocks and stops using it if it drifts or differs between processors.
bool KernelTrustsTsc() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return file >> source && source == "tsc";
}

TickSource ChooseTickSource() {
  const char* wish = std::getenv("CLUSTER_IOBENCH_CLOCK");
  if (wish != nullptr && std::string_view(wish) == "monotonic") return TickSource::kMonotonic;
#if defined(__x86_64__)
  if (CpuTscIsInvariant() && KernelTrustsTsc()) return TickSource::kTsc;
#endif
  return TickSource::kMonotonic;
}

template <typename Clock>
double MeasureReadNs(int reads) {
  uint64_t sink = 0;
  const int64_t begin_ns = MonotonicNowNs();
  for (int i = 0; i < reads; ++i) sink ^= Clock::Now().value;
  const int64_t end_ns = MonotonicNowNs();
  asm volatile("" : : "r"(sink));
  return static_cast<double>(end_ns - begin_ns) / reads;
}

template <typename Clock>
double MeasureReadNs() {
  constexpr int kBatches = 20;
  constexpr int kMinReads = 10;
  constexpr int kMaxReads = 1000;
  constexpr double kBatchNs = 100'000;
  // Where a read is a system call of an emulated kernel, 20,000 of them would take most of a second.
  const int reads = static_cast<int>(std::clamp<double>(kBatchNs / MeasureReadNs<Clock>(kMinReads), kMinReads, kMaxReads));
  std::array<double, kBatches> batch_ns;
  for (double& ns : batch_ns) ns = MeasureReadNs<Clock>(reads);
  // The median over the batches ignores batches during which another thread used the processor.
  std::nth_element(batch_ns.begin(), batch_ns.begin() + kBatches / 2, batch_ns.end());
  return batch_ns[kBatches / 2];
}

// Read by a static initialiser, because a longer distance makes a scale more accurate.
const TickPair process_start_pair = ReadTickPair(ChosenTickSource());

}  // namespace

int64_t MonotonicNowNs() {
  return NowNs(CLOCK_MONOTONIC);
}

std::string WallClockIso8601() {
  const int64_t now_ns = NowNs(CLOCK_REALTIME);
  const time_t seconds = now_ns / kNanosPerSecond;
  tm utc{};
  gmtime_r(&seconds, &utc);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                         utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                         now_ns % kNanosPerSecond / 1'000'000);
}

void WorkerClock::SleepUntil(WorkerTime until) const {
  // The default slack of 50 us would be a quarter of the time that a lane spins before its start.
  thread_local const bool slack_is_set = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
  (void)slack_is_set;
  const int64_t until_ns = until.ns - offset_ns_;
  if (until_ns <= 0) return;
  timespec wake_up{};
  wake_up.tv_sec = until_ns / kNanosPerSecond;
  wake_up.tv_nsec = until_ns % kNanosPerSecond;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake_up, nullptr) == EINTR) {
  }
}

const char* NameOf(TickSource source) {
  return source == TickSource::kTsc ? "tsc" : "monotonic";
}

TickSource ChosenTickSource() {
  static const TickSource chosen = ChooseTickSource();
  return chosen;
}

TickPair ReadTickPair(TickSource source) {
  if (source == TickSource::kMonotonic) {
    const int64_t now_ns = MonotonicNowNs();
    return {{static_cast<uint64_t>(now_ns)}, now_ns, 0};
  }
  TickPair tightest;
  tightest.bracket_ns = INT64_MAX;
  for (int i = 0; i < kPairTries; ++i) {
    const int64_t before_ns = MonotonicNowNs();
#if defined(__x86_64__)
    _mm_lfence();  // keeps the processor from reading the counter outside the bracket
#endif
    const Ticks ticks = TscClock::Now();
#if defined(__x86_64__)
    _mm_lfence();
#endif
    const int64_t after_ns = MonotonicNowNs();
    const int64_t bracket_ns = (after_ns - before_ns + 1) / 2;
    if (bracket_ns < tightest.bracket_ns) {
      tightest = {ticks, before_ns + (after_ns - before_ns) / 2, bracket_ns};
    }
  }
  return tightest;
}

TickScale::TickScale(TickSource source, const TickPair& early, const TickPair& late)
    : source_(source), origin_(early), ns_per_tick_(1.0), multiplier_(uint64_t{1} << 32) {
  if (source == TickSource::kMonotonic) return;
  assert(late.ticks > early.ticks && late.monotonic_ns > early.monotonic_ns);
  ns_per_tick_ = static_cast<double>(late.monotonic_ns - early.monotonic_ns) /
                 static_cast<double>(late.ticks.value - early.ticks.value);
  multiplier_ = static_cast<uint64_t>(std::llround(std::ldexp(ns_per_tick_, 32)));
}

int64_t TickScale::ToMonotonicNs(Ticks ticks) const {
  const auto since_origin = static_cast<int64_t>(ticks.value - origin_.ticks.value);  // may be negative
  return origin_.monotonic_ns + std::llround(static_cast<double>(since_origin) * ns_per_tick_);
}

Ticks TickScale::ToTicks(int64_t monotonic_ns) const {
  const int64_t since_origin =
      std::llround(static_cast<double>(monotonic_ns - origin_.monotonic_ns) / ns_per_tick_);
  return {origin_.ticks.value + static_cast<uint64_t>(since_origin)};
}

uint64_t TickScale::DurationTicks(int64_t ns) const {
  return ns <= 0 ? 0 : static_cast<uint64_t>(std::llround(static_cast<double>(ns) / ns_per_tick_));
}

TickScale CurrentTickScale() {
  const TickSource source = ChosenTickSource();
  if (source == TickSource::kTsc) {
    WorkerClock().SleepUntil({process_start_pair.monotonic_ns + kShortestBaseNs});
  }
  return TickScale(source, process_start_pair, ReadTickPair(source));
}

double MeasureClockReadNs(TickSource source) {
  return source == TickSource::kTsc ? MeasureReadNs<TscClock>() : MeasureReadNs<MonotonicClock>();
}

}  // namespace iobench

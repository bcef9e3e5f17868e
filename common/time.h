// Three clocks with three types, so that their times cannot be mixed up. Only ClockMap (common/clock_map.h) converts
// between coordinator and worker time; only TickScale (common/clock.h) converts between ticks and worker time.
#ifndef COMMON_TIME_H_
#define COMMON_TIME_H_

#include <sys/time.h>

#include <compare>
#include <cstdint>

namespace iobench {

// One lane's raw counter: TSC ticks, or CLOCK_MONOTONIC in ns where the TSC is unreliable.
struct Ticks {
  uint64_t value = 0;
  auto operator<=>(const Ticks&) const = default;
};

// CLOCK_MONOTONIC of one worker, in ns. Not comparable with other workers' times.
struct WorkerTime {
  int64_t ns = 0;
  auto operator<=>(const WorkerTime&) const = default;
  friend int64_t operator-(WorkerTime a, WorkerTime b) { return a.ns - b.ns; }
  friend WorkerTime operator+(WorkerTime a, int64_t delta_ns) { return {a.ns + delta_ns}; }
};

// CLOCK_MONOTONIC of the coordinator, in ns: the time axis of all results.
struct CoordTime {
  int64_t ns = 0;
  auto operator<=>(const CoordTime&) const = default;
  friend int64_t operator-(CoordTime a, CoordTime b) { return a.ns - b.ns; }
  friend CoordTime operator+(CoordTime a, int64_t delta_ns) { return {a.ns + delta_ns}; }
};

inline constexpr int64_t kNanosPerSecond = 1'000'000'000;
// For differences of times, in figures and messages. A double resolves nanoseconds only up to 2^53 ns (104 days), which
// a clock reading can exceed.
inline constexpr double SecondsFrom(int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
// For the processor times that getrusage() reports.
inline constexpr double SecondsFrom(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}
// Longer times count as this long, 146 years; plans allow at most 1e7 s. A clock reading plus it still fits 64 bits.
inline constexpr int64_t kMaxNanos = int64_t{1} << 62;
// Rounds to the nearest nanosecond: most decimal numbers have no exact double, and 1.001 s would lose one. Limited to
// ±kMaxNanos, so that no number that a damaged file holds overflows; NaN gives 0.
inline constexpr int64_t NanosFrom(double seconds) {
  const double ns = seconds * 1e9;
  constexpr double kLimit = static_cast<double>(kMaxNanos);
  if (!(ns < kLimit)) return ns >= kLimit ? kMaxNanos : 0;
  if (!(ns > -kLimit)) return -kMaxNanos;
  // Adding 0.5 before the cast would be inexact above 2^52 ns (52 days).
  const int64_t whole = static_cast<int64_t>(ns);
  const double rest = ns - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

}  // namespace iobench

#endif  // COMMON_TIME_H_

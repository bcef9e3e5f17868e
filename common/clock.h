// Clocks and tick conversion. WorkerTime and CoordTime always come from CLOCK_MONOTONIC, because a thread can sleep on
// that clock. Lanes may stamp raw ticks, which TickScale converts afterwards.
#ifndef COMMON_CLOCK_H_
#define COMMON_CLOCK_H_

#include <cstdint>
#include <string>

#include "common/time.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace iobench {

// Returns the current CLOCK_MONOTONIC time in ns. This is the only call of clock_gettime(CLOCK_MONOTONIC) in the
// project.
int64_t MonotonicNowNs();

inline CoordTime CoordNow() {
  return {MonotonicNowNs()};
}

// Returns the wall time as ISO 8601 UTC with milliseconds. For display and server logs only; never subtract two such
// times.
std::string WallClockIso8601();

// A worker's clock: CLOCK_MONOTONIC plus an offset. Tests set the offset so that the clocks of workers in one process
// disagree as those of different hosts do. Copyable; usable from any thread.
class WorkerClock {
 public:
  explicit WorkerClock(int64_t offset_ns = 0) : offset_ns_(offset_ns) {}
  WorkerTime Now() const { return {MonotonicNowNs() + offset_ns_}; }
  // Sleeps until `until` (TIMER_ABSTIME, timer slack 1 ns). Returns at once if that time has passed.
  void SleepUntil(WorkerTime until) const;
  int64_t offset_ns() const { return offset_ns_; }

 private:
  int64_t offset_ns_;
};

// The two tick clocks of the timed loop, as template arguments. Each op reads Now() exactly once. Reading the TSC costs
// about 10 ns, clock_gettime 25 ns; on other processors than x86-64, both read CLOCK_MONOTONIC.
struct TscClock {
  static Ticks Now() {
#if defined(__x86_64__)
    return {__rdtsc()};
#else
    return {static_cast<uint64_t>(MonotonicNowNs())};
#endif
  }
};
struct MonotonicClock {
  static Ticks Now() { return {static_cast<uint64_t>(MonotonicNowNs())}; }
};

enum class TickSource { kTsc, kMonotonic };
const char* NameOf(TickSource source);  // "tsc" or "monotonic"

// Returns kTsc only if the TSC is invariant (constant_tsc and nonstop_tsc in /proc/cpuinfo) and the kernel itself uses
// it (current_clocksource is tsc); otherwise kMonotonic. The environment variable CLUSTER_IOBENCH_CLOCK=monotonic
// overrides this, for tests and unreliable virtual machines. Decided once per process.
TickSource ChosenTickSource();

// The tick counter and CLOCK_MONOTONIC read at the same instant. ReadTickPair brackets the tick read between two clock
// reads, tries several times and keeps the tightest bracket.
struct TickPair {
  Ticks ticks;
  int64_t monotonic_ns = 0;
  // Half the time between the two clock reads, so the maximum error of the pair.
  int64_t bracket_ns = 0;
};
TickPair ReadTickPair(TickSource source);

// Converts one process's ticks to its CLOCK_MONOTONIC by linear interpolation through two pairs. A scale built from a
// phase's own pairs (read before its first op and after its last op) is exact at both ends. REQUIRES: `late` is later
// than `early`.
class TickScale {
 public:
  TickScale(TickSource source, const TickPair& early, const TickPair& late);
  // Both are also valid before and after the two pairs, at the same rate. ToTicks rounds to the nearest tick.
  int64_t ToMonotonicNs(Ticks ticks) const;
  Ticks ToTicks(int64_t monotonic_ns) const;
  // Converts a tick difference. It multiplies and shifts, which is cheap enough for every op's latency.
  uint64_t DurationNs(uint64_t tick_count) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(tick_count) * multiplier_) >> 32);
  }
  // Returns 0 for durations of 0 or less.
  uint64_t DurationTicks(int64_t ns) const;
  TickSource source() const { return source_; }

 private:
  TickSource source_;
  TickPair origin_;
  double ns_per_tick_;
  uint64_t multiplier_;  // ns per tick, 32.32 fixed point
};

// Returns a scale that is accurate to a few ppm, enough for latencies and timers. It is built from a pair read at
// process start and one read now. With the TSC, it sleeps until 5 ms after process start if called earlier.
TickScale CurrentTickScale();

// Returns the cost of one Now() call of `source` in ns: the median of 20 batches, each of 1,000 reads, or of as many
// (at least 10) as fit into 100 us.
double MeasureClockReadNs(TickSource source);

}  // namespace iobench

#endif  // COMMON_CLOCK_H_

// Where time comes from. WorkerTime and CoordTime are always CLOCK_MONOTONIC (it can be slept on); a lane may
// stamp raw ticks, which a TickScale converts afterwards.
#ifndef COMMON_CLOCK_H_
#define COMMON_CLOCK_H_

#include <cstdint>
#include <string>

#include "common/time.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace iobench {

// Now on this process's CLOCK_MONOTONIC, ns. The only call of clock_gettime(CLOCK_MONOTONIC) in the project.
int64_t MonotonicNowNs();

inline CoordTime CoordNow() {
  return {MonotonicNowNs()};
}

// Wall time as ISO 8601 UTC with milliseconds, for people and server logs; never subtracted.
std::string WallClockIso8601();

// A worker's clock: CLOCK_MONOTONIC, in tests moved by an offset so that workers in one process disagree like
// hosts do. Copyable; any thread.
class WorkerClock {
 public:
  explicit WorkerClock(int64_t offset_ns = 0) : offset_ns_(offset_ns) {}
  WorkerTime Now() const { return {MonotonicNowNs() + offset_ns_}; }
  // Sleeps (TIMER_ABSTIME, timer slack 1 ns) until `until`; returns at once if that is past.
  void SleepUntil(WorkerTime until) const;
  int64_t offset_ns() const { return offset_ns_; }

 private:
  int64_t offset_ns_;
};

// The two tick clocks of the timed loop. Now() is the one clock read of an op.
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
const char* NameOf(TickSource source);  // "tsc" | "monotonic"

// kTsc only where the TSC is invariant (constant_tsc and nonstop_tsc in /proc/cpuinfo) and the kernel itself
// keeps time with it (current_clocksource is tsc). Read once per process. The environment variable
// CLUSTER_IOBENCH_CLOCK=monotonic overrules, for tests and doubtful virtual machines.
TickSource ChosenTickSource();

// One reading of ticks and CLOCK_MONOTONIC at the same instant: the tightest of a few bracketed tries.
struct TickPair {
  Ticks ticks;
  int64_t monotonic_ns = 0;
  int64_t bracket_ns = 0;  // the two readings are no further apart than this
};
TickPair ReadTickPair(TickSource source);

// Converts one process's ticks to its CLOCK_MONOTONIC by the line through two pairs. A scale made from a phase's
// own two pairs (taken before its first and after its last op) is exact at both ends.
class TickScale {
 public:
  TickScale(TickSource source, const TickPair& early, const TickPair& late);
  int64_t ToMonotonicNs(Ticks ticks) const;
  Ticks ToTicks(int64_t monotonic_ns) const;
  // Of a difference. Multiply and shift: cheap enough for every op's latency.
  uint64_t DurationNs(uint64_t tick_count) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(tick_count) * multiplier_) >> 32);
  }
  uint64_t DurationTicks(int64_t ns) const;
  TickSource source() const { return source_; }

 private:
  TickSource source_;
  TickPair origin_;
  double ns_per_tick_;
  uint64_t multiplier_;  // ns per tick, 32.32 fixed point
};

// A scale good enough to measure latencies with and to set timers by (a few ppm), from a pair taken at process
// start and one taken now; waits 5 ms the first time it is called too early.
TickScale CurrentTickScale();

// Mean cost of one Now() of the chosen source, ns, measured over 20,000 reads.
double MeasureClockReadNs(TickSource source);

}  // namespace iobench

#endif  // COMMON_CLOCK_H_

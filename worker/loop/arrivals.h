// The schedule of an open loop (--rate): when ops are due, regardless of the ops before them.
#ifndef WORKER_LOOP_ARRIVALS_H_
#define WORKER_LOOP_ARRIVALS_H_

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "common/clock.h"
#include "common/mutex.h"
#include "common/time.h"

namespace iobench {

// How often ops are due.
struct ArrivalRate {
  double begin_per_s = 0;  // at the start; > 0
  // Over the first `ramp_s` seconds the rate changes linearly from begin_per_s to end_per_s, where it stays. 0 s: it is
  // begin_per_s throughout.
  double end_per_s = 0;
  double ramp_s = 0;
  // > 0: ops are due only in the first `burst_s` of each `burst_every_s`, at `begin_per_s` times their ratio, so that
  // begin_per_s is the mean over whole periods. Without a ramp.
  double burst_s = 0;
  double burst_every_s = 0;
  // True: a Poisson process, as of many independent users. False: evenly spaced.
  bool poisson = true;
  // Evenly spaced: when the first op is due after the start, in units of the gap, so that several schedules can take
  // turns.
  double first_gap = 0;
};

// The instants of a schedule, in order. Depends on nothing but its arguments. Not thread-safe.
class ArrivalTimes {
 public:
  // REQUIRES: begin_per_s > 0, with ramp_s > 0 also end_per_s > 0, with burst_s > 0 burst_every_s >= burst_s and no
  // ramp.
  ArrivalTimes(const ArrivalRate& rate, uint64_t seed);
  // Returns when the next op is due, in ns after the start.
  double NextNs();
  // How many ops are due in the first `seconds` on average: the rate's integral.
  double CountAt(double seconds) const;

 private:
  // When `count` ops are due, in s after the start: the inverse of the rate's integral.
  double SecondsAt(double count) const;

  const ArrivalRate rate_;
  const double ramp_count_;  // ops that are due by the end of the ramp
  std::mt19937_64 random_;
  double count_ = 0;
};

// The schedule that all lanes of a worker share: whichever lane is free takes the op that is due next. So an op waits
// only if all lanes are busy, not because one is. Usable from any thread; a lock is held for one draw (50 ns).
class Arrivals {
 public:
  // Ops that are due before `measured_from_ns` (after the start) belong to the warm-up.
  Arrivals(const ArrivalRate& rate, uint64_t seed, const TickScale& scale, int64_t measured_from_ns);

  // Returns when the next op is due; ops that were put back come first. The schedule starts with the first call, at
  // `now`.
  Ticks Take(Ticks now);
  // Puts back the op that is due then, because the phase ended or another op failed before it could begin.
  void PutBack(Ticks due);
  // The number of measured ops that were due before `end`, and within `limit_ns` of the schedule's start, but that no
  // lane has begun. Draws the rest of the schedule up to then, and counts those beyond 10^7 by the mean rate; call it
  // once, when all lanes have ended.
  uint64_t MissedBefore(Ticks end, int64_t limit_ns = INT64_MAX);

  // How long `gap_count` mean gaps between ops take at most, at the lower end of a ramp and with the pauses between
  // bursts.
  double LongestNs(double gap_count) const;

 private:
  Ticks Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double CountAt(Ticks at) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ArrivalRate rate_;
  const TickScale scale_;
  const int64_t measured_from_ns_;
  Mutex mutex_;
  ArrivalTimes times_ ABSL_GUARDED_BY(mutex_);
  std::optional<Ticks> start_ ABSL_GUARDED_BY(mutex_);
  std::vector<Ticks> put_back_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace iobench

#endif  // WORKER_LOOP_ARRIVALS_H_

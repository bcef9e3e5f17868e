// Waiting between ops.
#ifndef WORKER_LANE_PAUSE_CLOCK_H_
#define WORKER_LANE_PAUSE_CLOCK_H_

#include <cstdint>

#include "worker/loop/lane_context.h"

namespace iobench {

// CLOCK_MONOTONIC, or a test clock, which makes pauses testable without waiting.
class PauseClock {
 public:
  virtual ~PauseClock() = default;
  virtual int64_t NowNs() = 0;
  virtual void SleepUntilNs(int64_t ns) = 0;  // may return up to about 50 us late
};
PauseClock& RealPauseClock();

// Sleeps until 60 us before `until_ns`, because timers may be late, then spins until the clock reaches `until_ns` or
// the lane is stopped, which a sleeping lane notices within 10 ms. Returns the clock's time at the end.
int64_t WaitUntil(PauseClock& clock, const StopCell& stop, int64_t until_ns);

}  // namespace iobench

#endif  // WORKER_LANE_PAUSE_CLOCK_H_

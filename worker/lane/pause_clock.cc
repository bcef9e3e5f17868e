#include "worker/lane/pause_clock.h"

#include <algorithm>

#include "common/clock.h"

namespace iobench {
namespace {

constexpr int64_t kSpinNs = 60'000;       // at the end of a wait, because timers may be late
constexpr int64_t kSliceNs = 10'000'000;  // max time until a stop is noticed

class MonotonicPauseClock final : public PauseClock {
 public:
  int64_t NowNs() override { return MonotonicNowNs(); }
  void SleepUntilNs(int64_t ns) override { clock_.SleepUntil({ns}); }

 private:
  WorkerClock clock_;
};

}  // namespace

PauseClock& RealPauseClock() {
  static MonotonicPauseClock clock;
  return clock;
}

int64_t WaitUntil(PauseClock& clock, const StopCell& stop, int64_t until_ns) {
  int64_t now_ns = clock.NowNs();
  while (now_ns < until_ns && !stop.stop.load(std::memory_order_relaxed)) {
    if (until_ns - now_ns > kSpinNs) clock.SleepUntilNs(std::min(until_ns - kSpinNs, now_ns + kSliceNs));
    now_ns = clock.NowNs();
  }
  return now_ns;
}

}  // namespace iobench

// The live view on the terminal: --live.
#ifndef COORDINATOR_LIVE_LIVE_SCREEN_H_
#define COORDINATOR_LIVE_LIVE_SCREEN_H_

#include <memory>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "coordinator/live/live_page.h"
#include "coordinator/live/run_observer.h"

namespace iobench {

// FailedPrecondition: standard input or output is no terminal, or one without a movable cursor. Accesses nothing else.
absl::Status CheckTerminal();

// Takes the whole screen from RunStarts to Stop, and draws it on a thread of its own, so that a slow terminal delays
// nothing. Meanwhile nothing else may write to standard output; what is written to stderr appears on the screen if
// stderr is a terminal, and is written again after Stop. The key q, like Ctrl-C, interrupts the run: it raises SIGINT,
// which the program handles. Use at most one at a time.
class LiveScreen final : public RunObserver {
 public:
  LiveScreen();
  ~LiveScreen() override;

  void RunStarts(const v1::RunReport& report) override;
  void PhasePrepares(const PhaseProgress& progress) override;
  void PhaseMoves(const PhaseProgress& progress) override;
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override;
  int64_t progress_interval_ns() const override { return 1'000'000'000; }
  bool shows_latency() const override { return true; }

  // Leaves the screen as it was before. May be called again.
  void Stop();

 private:
  class Painter;

  Mutex mutex_;
  LivePage page_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Painter> painter_;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_SCREEN_H_

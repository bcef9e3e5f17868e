// Displays a run as it proceeds: parts of the report on stdout as phases end, and a progress line on stderr.
#ifndef COORDINATOR_RUN_DISPLAY_H_
#define COORDINATOR_RUN_DISPLAY_H_

#include <deque>
#include <ostream>
#include <utility>

#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/progress_line.h"
#include "coordinator/run/run_observer.h"

namespace iobench {

class Display final : public RunObserver {
 public:
  // `out`, `err` and `progress` must outlive it. `waits_for_workers`: workers are started by others, so show how many
  // have joined.
  Display(std::ostream& out, std::ostream& err, const ConsoleStyle& style, ProgressLine& progress,
          bool wants_progress, bool waits_for_workers)
      : out_(out),
        err_(err),
        style_(style),
        progress_(progress),
        wants_progress_(wants_progress),
        waits_for_workers_(waits_for_workers) {}

  void WorkersJoin(uint32_t joined, uint32_t count) override;
  void RunStarts(const v1::RunReport& report) override;
  void PhasePrepares(const PhaseProgress& progress) override;
  void PhaseMoves(const PhaseProgress& progress) override;
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override;
  int64_t progress_interval_ns() const override { return wants_progress_ ? 500'000'000 : 0; }

  // Prints what follows the phases, after the run.
  void RunEnds(const v1::RunReport& report);

 private:
  double RateNow(const PhaseProgress& progress);

  std::ostream& out_;
  std::ostream& err_;
  const ConsoleStyle style_;
  ProgressLine& progress_;
  const bool wants_progress_;
  const bool waits_for_workers_;
  Pages pages_ = Pages::kAll;  // cached for the run, since checking the plan again for each phase could take as long as
                               // the phase
  int64_t next_join_line_ns_ = 0;
  std::deque<std::pair<double, uint64_t>>
      recent_;  // (elapsed_s, bytes or ops) of this phase over the last few seconds
};

}  // namespace iobench

#endif  // COORDINATOR_RUN_DISPLAY_H_

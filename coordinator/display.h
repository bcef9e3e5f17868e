// Shows a run as it goes: the report's pieces on stdout as phases end, one line of progress on stderr meanwhile.
#ifndef COORDINATOR_DISPLAY_H_
#define COORDINATOR_DISPLAY_H_

#include <deque>
#include <ostream>
#include <utility>

#include "coordinator/report/progress_line.h"
#include "coordinator/report/report_writer.h"
#include "coordinator/run_observer.h"

namespace iobench {

class Display final : public RunObserver {
 public:
  // `out` and `progress` must outlive it.
  Display(std::ostream& out, const ConsoleStyle& style, ProgressLine& progress, bool wants_progress)
      : out_(out), style_(style), progress_(progress), wants_progress_(wants_progress) {}

  void RunStarts(const v1::RunReport& report) override;
  void PhasePrepares(const PhaseProgress& progress) override;
  void PhaseMoves(const PhaseProgress& progress) override;
  void PhaseEnds(const v1::RunReport& report) override;
  int64_t progress_interval_ns() const override { return wants_progress_ ? 500'000'000 : 0; }

  // After the run: what stands below the phases.
  void RunEnds(const v1::RunReport& report);

 private:
  double RateNow(const PhaseProgress& progress);

  std::ostream& out_;
  const ConsoleStyle style_;
  ProgressLine& progress_;
  const bool wants_progress_;
  std::deque<std::pair<double, uint64_t>> recent_;   // (elapsed_s, bytes) of this phase, a few seconds back
};

}  // namespace iobench

#endif  // COORDINATOR_DISPLAY_H_

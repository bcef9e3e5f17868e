// Displays a run as it proceeds: parts of the report on stdout as phases end, and a progress line on stderr.
#ifndef COORDINATOR_LIVE_DISPLAY_H_
#define COORDINATOR_LIVE_DISPLAY_H_

#include <deque>
#include <ostream>
#include <utility>

#include "coordinator/cluster/cluster.h"
#include "coordinator/live/run_observer.h"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/console/progress_line.h"

namespace iobench {

// Who has the terminal that stdout is connected to. Open MPI gives its ranks a terminal of its own, regardless of where
// their output goes.
enum class Stdout { kOurs, kOfMpi };
// Returns the style for standard output, with the terminal's width: colour only on a terminal of ours, and not with NO_COLOR.
ConsoleStyle StyleOf(Stdout out, bool verbose);

// The text is that of coordinator/report/console.
class Display final : public RunObserver {
 public:
  // What it shows besides the report.
  struct Shown {
    bool progress = false;
    // How many workers have joined, at most once a second. For runs whose workers somebody else starts (--listen).
    bool joining = false;
  };

  // `out`, `err` and `progress` must outlive it.
  Display(std::ostream& out, std::ostream& err, const ConsoleStyle& style, ProgressLine& progress,
          Shown shown, CoordClock clock = CoordNow)
      : out_(out), err_(err), style_(style), progress_(progress), shown_(shown), clock_(std::move(clock)) {}

  void WorkersJoin(uint32_t joined, uint32_t count) override;
  void RunStarts(const v1::RunReport& report) override;
  void SpaceFills(uint32_t percent, uint64_t bytes) override;
  void PhasePrepares(const PhaseProgress& progress) override;
  void PhaseMoves(const PhaseProgress& progress) override;
  void FilesAreFinished(const Unfinished& unfinished) override;
  void PhaseEnds(const v1::RunReport& report, const v1::PhaseReport& phase) override;
  int64_t progress_interval_ns() const override { return shown_.progress ? 500'000'000 : 0; }

  // Prints what follows the phases, after the run.
  void RunEnds(const v1::RunReport& report);

 private:
  double RateNow(const PhaseProgress& progress);

  std::ostream& out_;
  std::ostream& err_;
  const ConsoleStyle style_;
  ProgressLine& progress_;
  const Shown shown_;
  const CoordClock clock_;
  // Cached for the run, since checking the plan again for each phase could take as long as the phase.
  Pages pages_ = Pages::kAll;
  CoordTime next_join_line_{INT64_MIN};
  // (elapsed_s, bytes or ops) of this phase over the last 3 s, from which the current rate is computed.
  std::deque<std::pair<double, uint64_t>> recent_;
};

}  // namespace iobench

#endif  // COORDINATOR_LIVE_DISPLAY_H_

// Computes the figures of one phase: the totals of all windows, and each lane's part of the headline.
#ifndef COORDINATOR_ANALYSIS_PHASE_FIGURES_H_
#define COORDINATOR_ANALYSIS_PHASE_FIGURES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coordinator/analysis/phase/align.h"
#include "coordinator/analysis/phase/phase_traits.h"
#include "coordinator/analysis/phase/window.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A lane's part of the headline, measured over the lane's own interval: from its first op (or the end of the warm-up)
// to the stonewall, or to the end of its timed region if the headline counts whole regions.
struct LaneFigures {
  Moved measured;
  // The lane's own time without the pauses that the plan excludes (think time, pauses after bursts). Pauses are taken
  // to be spread evenly over the ops.
  double own_seconds = 0;

  // Both are 0 for a lane that did nothing, and NaN if its own time is unknown.
  double bytes_per_s() const;
  double ops_per_s() const;
};

// One rate in both units; NaN if it does not exist.
struct BothRates {
  double bytes_per_s;
  double ops_per_s;
};

// All figures of a phase, by the definitions in docs/definitions.md. If no lane did anything, rates are NaN and amounts
// zero.
struct PhaseFigures {
  CoordTime first_op;     // T_first
  double duration_s = 0;  // from T_first to the end of the last timed region
  // The lane whose end of ops is the stonewall. Points into AlignedPhase::lanes; null if no lane did anything.
  const AlignedLane* first_to_end = nullptr;
  double stonewall_at_s = 0;  // T_sw relative to T_first
  // What the stonewalled figure counts; without a stonewall (STONEWALL_NONE), what had been moved by T_sw.
  Moved at_stonewall;

  BothRates headline, full, stonewalled, all_active, children, parent, deadline;
  // What the headline counts, and the length of its window.
  Moved measured;
  double headline_seconds = 0;
  // 1 - full / stonewalled, in ops for metadata operations and otherwise in bytes; NaN if either rate is NaN.
  double straggler_cost = 0;
  std::vector<LaneFigures> lanes;  // in the order of AlignedPhase::lanes
};

// Computes the figures. A figure that has no meaning for the phase is NaN: `full` if lanes were told to stop at the
// stonewall, and windows that end within the ops if only flushed bytes count. Decodes one timeline at a time. The
// result borrows `aligned`.
PhaseFigures FiguresOf(const v1::PhaseRecord& phase, const PhaseTraits& traits, const AlignedPhase& aligned);

// Returns the figures of the first pass over new files, by the definitions in docs/definitions.md ("The first pass");
// nullopt if the phase writes no new files, or no lane has begun a second pass. Its rates are NaN if the warm-up covers
// it. In first_pass.cc.
std::optional<v1::FirstPassReport> FirstPassOf(const v1::PhaseRecord& phase, const PhaseTraits& traits,
                                               const AlignedPhase& aligned, const PhaseFigures& figures);
// The title of operations whose headline is "overwriting" or so (FirstPassReport.headline), instead of `title`.
std::string TitleWhenOverwriting(const std::string& title, const std::string& headline);

// Returns the skew of the lanes' first ops with its bounds, and the delay of the first one after T, in microseconds.
// The bounds follow from the error of each lane's clock. `duration_s`: the phase's, for the skew in percent of it. NaN
// if no lane did anything.
v1::StartReport StartOf(const v1::PhaseRecord& phase, const AlignedPhase& aligned, double duration_s);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_FIGURES_H_

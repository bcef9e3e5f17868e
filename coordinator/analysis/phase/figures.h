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
  double own_seconds = 0;  // excludes the pauses that the plan leaves out

  double bytes_per_s() const;  // 0 for a lane that did nothing; NaN if its own time is unknown
  double ops_per_s() const;
};

// One rate in both units; NaN if it does not exist.
struct BothRates {
  double bytes_per_s;
  double ops_per_s;
};

struct PhaseFigures {
  // NaN and zero if no lane did anything.
  CoordTime first_op;     // T_first
  double duration_s = 0;  // from T_first to the end of the last timed region
  const AlignedLane* first_to_end = nullptr;
  double stonewall_at_s = 0;  // T_sw relative to T_first
  Moved at_stonewall;         // counted by the stonewalled figure; with stonewall none: moved by T_sw

  BothRates headline, full, stonewalled, all_active, children, parent, deadline;
  Moved measured;  // counted by the headline
  double headline_seconds = 0;
  double straggler_cost = 0;       // NaN if full or stonewalled is NaN
  std::vector<LaneFigures> lanes;  // in the order of AlignedPhase::lanes
};

PhaseFigures FiguresOf(const v1::PhaseRecord& phase, const PhaseTraits& traits, const AlignedPhase& aligned);

// Returns the skew of the lanes' first ops with its bounds, and the delay of the first one.
v1::StartReport StartOf(const v1::PhaseRecord& phase, const AlignedPhase& aligned, double duration_s);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_FIGURES_H_

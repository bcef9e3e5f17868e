// The arithmetic of one phase: every window's totals, and each lane's part of the headline.
#ifndef COORDINATOR_ANALYSIS_FIGURES_H_
#define COORDINATOR_ANALYSIS_FIGURES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coordinator/analysis/align.h"
#include "coordinator/analysis/phase_traits.h"
#include "coordinator/analysis/window.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A lane's part of the headline. It is measured over an interval of its own: from its first op (or the end of the
// warm-up) to the stonewall, or to the end of its timed region where the headline counts whole regions.
struct LaneFigures {
  Moved measured;
  double own_seconds = 0;  // without the pauses that the plan leaves out

  double bytes_per_s() const;  // 0 for a lane that did nothing, NaN where its own time is not known
  double ops_per_s() const;
};

// One rate in both units; NaN where it does not exist.
struct BothRates {
  double bytes_per_s;
  double ops_per_s;
};

struct PhaseFigures {
  // NaN and zero where no lane did anything.
  CoordTime first_op;     // T_first
  double duration_s = 0;  // T_first to the end of the last timed region
  const AlignedLane* first_to_end = nullptr;
  double stonewall_at_s = 0;  // T_sw from T_first
  Moved at_stonewall;         // what the stonewalled figure counts; without one, what was moved by then

  BothRates headline, full, stonewalled, all_active, children, parent, deadline;
  Moved measured;  // of the headline
  double headline_seconds = 0;
  double straggler_cost = 0;       // NaN where full or stonewalled is
  std::vector<LaneFigures> lanes;  // as AlignedPhase::lanes
};

PhaseFigures FiguresOf(const v1::PhaseRecord& phase, const PhaseTraits& traits, const AlignedPhase& aligned);

// Skew of the lanes' first ops with its bounds, and how late the first was.
v1::StartReport StartOf(const v1::PhaseRecord& phase, const AlignedPhase& aligned, double duration_s);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_FIGURES_H_

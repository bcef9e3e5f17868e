// The requested load of a phase and how it was met: for an open loop (--rate), how many ops were due and how long each
// took from then on; for a phase with several assignments (--mix), what each of them did.
#ifndef COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_
#define COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_

#include <optional>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills report.open_loop if an operation of the phase has a rate; otherwise leaves it unset. Leaves out workers that
// were lost, refused the phase or had their result refused, and lanes whose histograms are damaged.
void FillOpenLoop(const PhaseView& view, v1::PhaseReport& report);

// The same for the workers of one assignment of the phase; null: all workers. nullopt: none of them has a rate.
std::optional<v1::OpenLoopReport> OpenLoopOf(const PhaseView& view, const v1::Assignment* only);

// Fills report.parts (part_figures.cc), in the order of the assignments, if the phase has several; otherwise leaves it empty.
void FillParts(const PhaseView& view, v1::PhaseReport& report);
// Fills report.paths (part_figures.cc), in the order of the plan's targets, if lanes that count worked on several; otherwise leaves it
// empty, also if the record does not say where a lane worked.
void FillPaths(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_

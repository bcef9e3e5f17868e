// The figures of an open loop (--rate): how many ops were due, and how long each took from then on.
#ifndef COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_
#define COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills report.open_loop if an operation of the phase has a rate; otherwise leaves it unset. Lanes whose histograms are
// damaged are left out.
void FillOpenLoop(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_OPEN_LOOP_FIGURES_H_

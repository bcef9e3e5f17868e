// Whether a phase is whole: every lane that the plan gave it took part, from its start to its end. The figures of
// another phase are of fewer lanes, or of less time, than those that they would be compared with.
#ifndef COORDINATOR_ANALYSIS_MARKS_WHOLE_H_
#define COORDINATOR_ANALYSIS_MARKS_WHOLE_H_

#include <cstddef>
#include <string>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// What the totals of a phase lack: workers and lanes together, and as text: "1 worker lost, 2 lanes failed". Empty:
// nothing.
struct Missing {
  size_t count = 0;
  std::string text;
};
// REQUIRES: FillLosses was called.
Missing MissingFrom(const PhaseView& view, const v1::PhaseReport& report);

// Sets not_whole, which alone decides whether the phase counts for scaling, scores, medians of repetitions, comparisons,
// histories, trends, criteria and capacity. The reasons are what is missing from it, and an interrupt. REQUIRES: FillLosses was called,
// and `interrupted` is set.
void FillWhole(const PhaseView& view, v1::PhaseReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_WHOLE_H_

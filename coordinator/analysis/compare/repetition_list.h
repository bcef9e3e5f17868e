// The repetitions of one phase against their median. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_REPETITION_LIST_H_
#define COORDINATOR_ANALYSIS_COMPARE_REPETITION_LIST_H_

#include "coordinator/analysis/compare/phase_samples.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

// Lists every repetition with its rate relative to the median, and says which are outliers: modified z-score
// 0.6745 |x - median| / MAD over 3.5 (docs/comparing.md, "Comparing runs").
v1::RepetitionSeries RepetitionListOf(const PhaseSamples& samples);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_REPETITION_LIST_H_

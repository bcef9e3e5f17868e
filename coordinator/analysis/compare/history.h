// How the figures of one plan have changed over days. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_HISTORY_H_
#define COORDINATOR_ANALYSIS_COMPARE_HISTORY_H_

#include <vector>

#include "coordinator/analysis/compare/compare_runs.h"
#include "iobench/v1/compare.pb.h"

namespace iobench {

// Sorts the runs by start time and looks for trends and changes in each phase that at least two of them have (if there
// is only one run, in all of its phases). With fail_under, a phase is below the limit if its newest change is to less
// than that share of the level before it, and not below it if its newest runs are shown to reach that share. The statistics are defined in docs/comparing.md, "History". REQUIRES: at
// least one run.
v1::HistoryReport HistoryOf(std::vector<RunToCompare> runs, const CompareSettings& settings);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_HISTORY_H_

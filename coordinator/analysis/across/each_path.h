// The figures of a run with --each-path side by side: the same phases on each path. Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_EACH_PATH_H_
#define COORDINATOR_ANALYSIS_ACROSS_EACH_PATH_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.each_path; clears it if the run's phases do not use at least two paths one after the other. The phases may
// be briefs (coordinator/analysis/brief.h). Repetitions that are not whole are excluded.
void UpdateEachPath(v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_EACH_PATH_H_

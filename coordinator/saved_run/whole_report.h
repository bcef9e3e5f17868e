// The complete report of a saved run, for formats that are written as a whole.
#ifndef COORDINATOR_SAVED_RUN_WHOLE_REPORT_H_
#define COORDINATOR_SAVED_RUN_WHOLE_REPORT_H_

#include "coordinator/report/result_store.h"
#include "coordinator/saved_run/finished_phases.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the report with all phases and lanes, as FinishedPhases (finished_phases.h) gives them. It takes all that
// `saved` has; phases that are damaged or missing are problems of the report and warnings of `saved`.
v1::RunReport WholeReport(SavedRun& saved, const FinishSettings& settings);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_WHOLE_REPORT_H_

// Whether the phases of a run that repeats them in rounds have become steady (--until steady). Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_UNTIL_STEADY_H_
#define COORDINATOR_ANALYSIS_ACROSS_UNTIL_STEADY_H_

#include <cstdint>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Sets report.steady from the complete rounds so far, by the rule of statistics/steady_state.h; nothing if the plan does
// not ask for it. A round whose phase is missing or not whole has no figure (NaN), and a window with one is not steady.
// REQUIRES: report.run() has the plan, complete.
void UpdateSteady(v1::RunReport& report);

// Whether a repetition (from 0) belongs to the window of rounds that the figures of report.steady are of. True without
// --until steady.
bool IsInSteadyWindow(const v1::RunReport& report, uint32_t repetition);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_UNTIL_STEADY_H_

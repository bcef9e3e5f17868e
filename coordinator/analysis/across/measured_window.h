// When a phase was measured, in seconds of its charts, which begin at the first op and include the warm-up. Pure.
#ifndef COORDINATOR_ANALYSIS_ACROSS_MEASURED_WINDOW_H_
#define COORDINATOR_ANALYSIS_ACROSS_MEASURED_WINDOW_H_

#include <vector>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The length of the headline's window; of a phase without one, its duration.
double HeadlineSeconds(const v1::PhaseReport& phase);

struct MeasuredTime {
  double begin_s = 0;
  double seconds = 0;
};
// The time of the ops whose latencies the phase has: from the end of the warm-up to the end of the last lane, also after
// the headline's window.
MeasuredTime TimeOfLatencies(const v1::Plan& plan, const v1::PhaseReport& phase);

// Returns those of the charts' rates, one for each slice, whose slices lie wholly in the headline's window and in which
// lanes did ops. Empty: no slice does, or the phase has none.
std::vector<double> MeasuredSlices(const v1::Plan& plan, const v1::PhaseReport& phase,
                                   const google::protobuf::RepeatedField<double>& rates);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_ACROSS_MEASURED_WINDOW_H_

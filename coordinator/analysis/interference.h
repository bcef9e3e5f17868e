// What clients reach undisturbed, and beside the load of others (--background). Pure.
#ifndef COORDINATOR_ANALYSIS_INTERFERENCE_H_
#define COORDINATOR_ANALYSIS_INTERFERENCE_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Fills report.interference with one entry for each phase of the victims and a row for each load; all figures are NaN.
// REQUIRES: report.run() has the plan.
void BeginInterference(v1::RunReport& report);

// Adds what a phase, which must not be a brief, says of the victims and of the load. Nothing for other phases, nor for
// one that was interrupted, or that lost a worker or a lane.
void UpdateInterference(const v1::PhaseReport& phase, v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_INTERFERENCE_H_

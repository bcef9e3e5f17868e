// What each client reached alone and together with all others (--per-client). Pure.
#ifndef COORDINATOR_ANALYSIS_PER_CLIENT_H_
#define COORDINATOR_ANALYSIS_PER_CLIENT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// A client whose rate is under this share of the others' median is an outlier.
inline constexpr double kOutlierShare = 0.7;

// Fills report.per_client with one entry for each phase of the plan that clients also do alone; all its figures are
// NaN. REQUIRES: report.run() has the plan.
void BeginPerClient(v1::RunReport& report);

// Adds what a phase, which must not be a brief, says of its clients. Nothing for other phases, nor for one that was
// interrupted, or that lost a worker or a lane.
void UpdatePerClient(const v1::PhaseReport& phase, v1::RunReport& report);

// Computes all other figures from the rates of the clients and that of all together. UpdatePerClient calls it.
void JudgeClients(v1::PerClientReport& report);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PER_CLIENT_H_

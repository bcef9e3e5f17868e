// The list of phases that the options ask for: operations x sizes x records x lanes, each with a name of its own.
#ifndef COORDINATOR_PHASE_LIST_H_
#define COORDINATOR_PHASE_LIST_H_

#include "absl/status/status.h"
#include "coordinator/option.h"
#include "coordinator/plan_builder.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Fills lanes, sizes and phases with names, operations, records and steps, and no more: the options that set fields
// come afterwards. InvalidArgument: an operation that is not known, sizes that leave nothing.
absl::Status ListPhases(const GivenOptions& given, const PlanContext& context, v1::Plan& plan);

// Leaves operations out that the chosen engine cannot do, where nobody named them. REQUIRES: the fields are set.
void LeaveOutWhatTheEngineCannot(const GivenOptions& given, v1::Plan& plan);

// Whether what the options call lanes are processes, as in IOzone, so workers of one lane each: -t, -l and -u with a list
// of clients, -l and -u of a run that has several workers.
bool LanesAreWorkers(const GivenOptions& given, const PlanContext& context);

// What the plan has as lanes per worker becomes workers of one lane each, of which a phase takes the first so many.
// `worker_count`: of the run; 0: not known.
void LanesBecomeWorkers(uint32_t worker_count, v1::Plan& plan);

// --drop-caches, --remount, --rest: what comes before each phase. InvalidArgument: there is none to drop caches before.
absl::Status AddSteps(const GivenOptions& given, v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PHASE_LIST_H_

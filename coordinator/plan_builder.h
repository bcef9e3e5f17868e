// From the command line's options to a plan.
#ifndef COORDINATOR_PLAN_BUILDER_H_
#define COORDINATOR_PLAN_BUILDER_H_

#include "absl/status/statusor.h"
#include "coordinator/cli.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What the options say, or what their --plan file says with --path and --keep on top; complete (CompletePlan), not yet
// checked. Relative paths are made absolute against this process's directory, which workers elsewhere do not share.
// `default_lanes`: where -t is not given. InvalidArgument: a size or an operation that cannot be read; NotFound: no
// such plan file.
absl::StatusOr<v1::Plan> BuildPlan(const WorkOptions& work, uint32_t default_lanes);

// `phase_count` phases in which each lane of the null engine does one op: what is left is the tool's own cost.
v1::Plan EmptyPhases(uint32_t phase_count, uint32_t lanes_per_worker);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_BUILDER_H_

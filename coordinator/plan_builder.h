// From the command line's options to a plan.
#ifndef COORDINATOR_PLAN_BUILDER_H_
#define COORDINATOR_PLAN_BUILDER_H_

#include "absl/status/statusor.h"
#include "coordinator/option.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What the plan depends on beside the options.
struct PlanContext {
  uint32_t default_lanes = 1;  // where -t is not given
  uint32_t worker_count = 0;   // of the run; 0: not known yet
  bool client_list =
      false;  // workers are started by a list, as many as the options call lanes, with one lane each
  uint64_t memory_bytes = 0;   // of this host, for suites that want files larger than that; 0: not known
  uint64_t drawn_seed = 1;     // where neither --seed nor a plan gives one
};

// What the options say, what their --plan file says with --path and --keep on top, or what their --suite says with its
// usual values replaced; complete (CompletePlan), not yet checked. Relative paths are made absolute against this
// process's directory, which workers elsewhere do not share.
// REQUIRES: CheckOptions. InvalidArgument: a size or an operation that cannot be read; NotFound: no such plan or suite.
absl::StatusOr<v1::Plan> BuildPlan(const GivenOptions& given, const PlanContext& context);

// `phase_count` phases in which each lane of the null engine does one op: what is left is the tool's own cost.
v1::Plan EmptyPhases(uint32_t phase_count, uint32_t lanes_per_worker);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_BUILDER_H_

// The plan that was asked for, and who takes part: the plan that runs. Pure.
#ifndef COORDINATOR_PLAN_RESOLVE_H_
#define COORDINATOR_PLAN_RESOLVE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/roster/roster.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// What the result depends on besides plan and workers.
struct ResolveContext {
  // The plan is that of a run which is resumed: files keep their sizes, even if a client's memory has changed.
  bool resumed = false;
  // Of phases that are added while the run lasts; 0: none has fewer lanes than those of the plan.
  uint32_t least_lanes_per_worker = 0;
  // per_client compares clients; otherwise a single one is an error.
  bool allows_one_client = false;
};

// Returns `asked` with everything written out that depends on who takes part, so that it repeats the run with the same
// workers: the targets of workers that bring their own paths, which worker does what in a mix, beside a background load,
// with per_client and on servers, and the size of files that follows from the clients' memory. A plan that has been
// resolved for these workers stays as it is. InvalidArgument: these workers cannot run the plan. REQUIRES: `asked` has
// passed CheckPlan, and there is at least one worker.
absl::StatusOr<v1::Plan> Resolve(const v1::Plan& asked, const Roster& roster, const ResolveContext& context = {});

}  // namespace iobench

#endif  // COORDINATOR_PLAN_RESOLVE_H_

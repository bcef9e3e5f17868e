// Determines what a plan needs on a worker's client besides files, so that the worker can check for it before the run.
#ifndef COORDINATOR_RUN_CLIENT_DEMANDS_H_
#define COORDINATOR_RUN_CLIENT_DEMANDS_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns the demands of all phases in which the worker takes part: engines, trace files to read or to create, the
// binding, the stripe, and the mounts to be remounted if this worker does that for its client. Pure.
v1::Demands DemandsOn(const Member& member, const v1::Plan& plan, const Layout& layout,
                      std::span<const Member> members);

// Returns InvalidArgument for each demand that the worker has not found met; the message begins with the client.
std::vector<absl::Status> UnmetBy(const Member& member, const v1::Inspected& seen);

// Checks that every mount to be remounted on the client contains one of the plan's targets as the client sees them, so
// that a mistyped mount is not touched. InvalidArgument: the message names the mount and where the targets are.
absl::Status CheckRemountsHoldTargets(const Member& member, const v1::Plan& plan, const v1::Demands& demands,
                                      const v1::Inspected& seen);

}  // namespace iobench

#endif  // COORDINATOR_RUN_CLIENT_DEMANDS_H_

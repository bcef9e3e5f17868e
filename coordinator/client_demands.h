// What a plan asks of a worker's client beside files to work on, so that the worker can look for it before the run.
#ifndef COORDINATOR_CLIENT_DEMANDS_H_
#define COORDINATOR_CLIENT_DEMANDS_H_

#include <span>

#include "absl/status/status.h"
#include "coordinator/cluster.h"
#include "coordinator/layout.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Of all phases in which the worker takes part. Pure.
v1::Demands DemandsOn(const Member& member, const v1::Plan& plan, const Layout& layout,
                      std::span<const Member> members);

// The first of what a worker has not found; InvalidArgument names its client.
absl::Status CheckDemandsMet(const Member& member, const v1::Inspected& seen);

// Whether every mount that is to be renewed there holds one of the plan's targets as the client sees them: what is named
// by mistake is no business of the run. InvalidArgument names the mount, and where the targets are.
absl::Status CheckRemountsHoldTargets(const Member& member, const v1::Plan& plan, const v1::Demands& demands,
                                      const v1::Inspected& seen);

}  // namespace iobench

#endif  // COORDINATOR_CLIENT_DEMANDS_H_

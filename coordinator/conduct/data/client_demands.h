// Determines what a worker is asked about its client before the run: the targets that it uses, and what the plan needs
// there besides files.
#ifndef COORDINATOR_CONDUCT_DATA_CLIENT_DEMANDS_H_
#define COORDINATOR_CONDUCT_DATA_CLIENT_DEMANDS_H_

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/plan/layout.h"
#include "coordinator/saved_run/run_part.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns the demands of all phases in which the worker takes part: engines, trace files to read or to create, the
// binding, the stripe, and the mounts to be remounted if this worker does that for its client. Phases that are not part of
// `part` need nothing, and their traces exist. Those of phases that an earlier part of the run may have begun are replaced.
// Pure.
v1::Demands DemandsOn(const Member& member, const v1::Plan& plan, const Layout& layout,
                      std::span<const Member> members, const RunPart& part = {});

// Returns the numbers of the targets that the worker must inspect: those where its lanes own files or use those of
// others, and those that show whether a mount that it remounts for its client holds a target. All targets in a run on
// the user's own files, which may be anywhere. With a path for each worker, each inspects a few, however many workers
// there are. Pure.
std::set<uint32_t> TargetsToInspect(const Member& member, const v1::Plan& plan, const Layout& layout,
                                    const v1::Demands& demands, std::span<const Member> members);

// Returns InvalidArgument for each demand that the worker found unmet; the message begins with the client.
std::vector<absl::Status> UnmetBy(const Member& member, const v1::Inspected& seen);

// Checks that every mount to be remounted on the client contains one of the targets that the worker has inspected, so
// that a mistyped mount is not touched. InvalidArgument: the message names the mount and where the targets are.
absl::Status CheckRemountsHoldTargets(const Member& member, const v1::Plan& plan, const v1::Demands& demands,
                                      const v1::WorkerTargets& seen);

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_CLIENT_DEMANDS_H_

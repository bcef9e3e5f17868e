// Steps that one worker performs for its whole client, while none of the client's workers has files of the run open.
#ifndef COORDINATOR_CONDUCT_DATA_CLIENT_STEPS_H_
#define COORDINATOR_CONDUCT_DATA_CLIENT_STEPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// True for steps that affect every process of a client, such as a remount or memory that is taken from it. All other
// steps are part of each worker's preparation (control.proto, Prepare.steps).
bool IsClientStep(const v1::Step& step);
bool HasClientSteps(const v1::Phase& phase);

using StepsOfWorkers = std::map<uint32_t, std::vector<v1::StepResult>>;  // by worker number

// Performs the steps in the phase's order, on all clients in parallel, each by the client's first worker that takes
// part. A step begins when all clients have done the one before it. Adds the results to `done` under that worker.
// `patience`: for each step. Errors: a client could not perform its step (the message names it), or those of
// Cluster::Call; later steps are then left out. REQUIRES: no worker is in a phase.
absl::Status RunClientSteps(Cluster& cluster, const v1::Phase& phase,
                            const std::function<bool(uint32_t worker)>& takes_part, StepsOfWorkers& done,
                            const Cluster::Patience& patience = {});

// What each worker reported about its client's caches, by worker number.
using ColdnessOfWorkers = std::map<uint32_t, v1::Coldness>;

// True if some client has more than 5 % of its files in memory, or may remember names, and one of its workers may
// remount.
bool AnyToRemount(const Cluster& cluster, const ColdnessOfWorkers& coldness);
// Remounts on these clients, where the caches that could be dropped were not enough for --cold, and adds a step
// "cold-remount" that says why. A mount that cannot be unmounted, because it is in use, is left as it is: its step is
// "no-remount", and the phase will be marked. Errors: Unavailable: it was unmounted and cannot be mounted again; those
// of Cluster::Call. REQUIRES: as RunClientSteps.
absl::Status RemountForCold(Cluster& cluster, const ColdnessOfWorkers& coldness, StepsOfWorkers& done,
                            const Cluster::Patience& patience = {});

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_DATA_CLIENT_STEPS_H_

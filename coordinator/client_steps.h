// Steps that one worker does for its whole client, while no worker of it has files of the run open.
#ifndef COORDINATOR_CLIENT_STEPS_H_
#define COORDINATOR_CLIENT_STEPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

bool IsClientStep(const v1::Step& step);
bool HasClientSteps(const v1::Phase& phase);

using StepsOfWorkers = std::map<uint32_t, std::vector<v1::StepResult>>;  // by worker number

// Does them in the phase's order, all clients at once, each by the first of its workers that takes part; what came of
// them is added to `done` under that worker. REQUIRES: no worker is in a phase. An error: a client could not do its
// step, with the client's name; or as Cluster::Call.
absl::Status RunClientSteps(Cluster& cluster, const v1::Phase& phase,
                            const std::function<bool(uint32_t worker)>& takes_part, StepsOfWorkers& done);

}  // namespace iobench

#endif  // COORDINATOR_CLIENT_STEPS_H_

// Steps of a capacity measurement as phases of a plan. Pure.
#ifndef COORDINATOR_CAPACITY_CAPACITY_PHASES_H_
#define COORDINATOR_CAPACITY_CAPACITY_PHASES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/capacity/capacity_steps.h"
#include "coordinator/options/option.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Returns a step's phase: the planned one with the step's workers, lanes, load and time. `workers_of_client`: the
// numbers of each client's workers; the clients in a level of the client sweep rotate with the repetition, so that no
// client's own speed looks like scaling. `number`: of the step; it makes the phase's name unique.
v1::Phase PhaseOf(const CapacityStep& step, const v1::Phase& planned,
                  const std::vector<std::vector<uint32_t>>& workers_of_client, size_t number);

// "20 lanes, round 2", "open loop, 40 %", "SLO, retest".
std::string DescriptionOf(const CapacityStep& step, size_t worker_count);

// Returns the ops per second that are due in a phase's open loop; 0: a closed loop.
double DuePerSecond(const v1::Phase& phase);

// Lets the workload measure storage and not the clients' memory, if `given` does not say how it
// is moved: past that memory (-I), or, where the file system cannot do that (`direct_works`), written through it (-o) and
// read cold. A mix is as it is.
void MeasureStorage(const GivenOptions& given, bool direct_works, v1::Plan& plan);

// InvalidArgument: the plan sets something that a capacity measurement decides itself, such as the times of ops or, for
// closed loops, the workers. This includes what the user's own plan sets; the command line refuses such options earlier.
absl::Status CheckLeavesLoad(const v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_CAPACITY_PHASES_H_

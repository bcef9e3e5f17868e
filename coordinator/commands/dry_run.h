// `run --dry-run`: what a run would do, on the workers that have joined.
#ifndef COORDINATOR_COMMANDS_DRY_RUN_H_
#define COORDINATOR_COMMANDS_DRY_RUN_H_

#include "coordinator/conduct/conductor.h"

namespace iobench {

// Prints on standard output which worker would use what, the space, the phases, and how long they take. REQUIRES: Assemble
// succeeded. `max_duration_s`: --max-duration; 0: no limit.
void PrintDryRun(const Conductor& conductor, double max_duration_s);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_DRY_RUN_H_

// `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_WORKER_COMMAND_H_
#define COORDINATOR_WORKER_COMMAND_H_

#include "coordinator/option/cli.h"

namespace iobench {

// Joins a coordinator as one worker, or several, and returns the exit code when the run is over. REQUIRES: HandleSignals.
int RunWorker(const CommandLine& line);

}  // namespace iobench

#endif  // COORDINATOR_WORKER_COMMAND_H_

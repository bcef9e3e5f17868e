// `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_COMMANDS_WORKER_H_
#define COORDINATOR_COMMANDS_WORKER_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Joins a coordinator over gRPC as one worker, or several (--simulate), and serves the run. Blocks the calling thread
// until the run is over and returns the exit code: kExitOk; kExitInterrupted after a signal; kExitPartial if the
// coordinator was never reached or was lost; kExitUsage if it sent the worker away with a reason, or did not admit it
// (token, certificates), or the address is malformed. With --stay, it waits for the next coordinator instead, and a
// signal is kExitOk. A worker that --spawn started prints nothing and returns kExitPartial for any failure, because the
// coordinator reports what happened to it. REQUIRES: HandleSignals.
int RunWorker(const JoinCommand& line);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_WORKER_H_

// `cluster-iobench worker --join ADDRESS`.
#ifndef COORDINATOR_COMMANDS_WORKER_H_
#define COORDINATOR_COMMANDS_WORKER_H_

#include "absl/status/statusor.h"
#include "common/transport/grpc/join_credentials.h"
#include "coordinator/options/command_options.h"

namespace iobench {

// Joins a coordinator over gRPC as one worker, or several (--simulate), and serves the run. Blocks the calling thread
// until the run is over and returns the exit code: kExitOk; kExitInterrupted after a signal; kExitPartial if the
// coordinator was never reached or was lost; kExitUsage if it sent the worker away with a reason, or did not admit it
// (token, certificates), or the address is malformed. With --stay, it waits for the next coordinator instead, and a
// signal is kExitOk. A worker that --spawn started prints nothing and returns kExitPartial for any failure, because the
// coordinator reports what happened to it. REQUIRES: HandleSignals.
int RunWorker(const JoinCommand& line);

// Reads the credentials on standard input (--token-file -), which comes at once if it comes at all. Errors: see
// ReadTokenInput; ExitWithoutToken prints one and returns the exit code.
absl::StatusOr<JoinCredentials> TokenOnInput(const JoinCommand& line);
int ExitWithoutToken(const absl::Status& why);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_WORKER_H_

// `cluster-iobench worker --slots N`, `--server-workers N`: several workers on a host, from one remote shell.
#ifndef COORDINATOR_COMMANDS_WORKER_SLOTS_H_
#define COORDINATOR_COMMANDS_WORKER_SLOTS_H_

#include <string>
#include <vector>

#include "coordinator/options/command_options.h"

namespace iobench {

// Starts line.slots processes of this program, or a sampler and line.server_workers workers of a server, each with a
// position of its own from line.client_list_position (all without one if that is 0) and otherwise with the same
// `arguments`, those of this process. With --token-file -, all get the contents of standard input. Waits until all have
// ended, and returns the largest of their exit codes. Prints a line for each that fails while others go on (SlotEnded).
// A signal ends them: kExitInterrupted. With line.stay they have no end of their own: a signal gives kExitOk, and if one
// ends alone, the others end too, with an exit code other than kExitOk (kExitPartial if it was not bad usage), so that a
// service manager can start all again. REQUIRES: HandleSignals.
int RunWorkerSlots(const JoinCommand& line, const std::vector<std::string>& arguments);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_WORKER_SLOTS_H_

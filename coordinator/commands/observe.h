// The command `observe`: reads the counters of an NFS mount over time, and writes the requests as a mix.
#ifndef COORDINATOR_COMMANDS_OBSERVE_H_
#define COORDINATOR_COMMANDS_OBSERVE_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Observes a mount, or merges mix files. Prints what it found and returns the exit code; messages go to stderr. When
// TheInterrupt() is raised, it ends early, as if the time were over. REQUIRES: HandleSignals, and the options were checked
// when the command line was parsed.
int Observe(const ObserveCommand& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_OBSERVE_H_

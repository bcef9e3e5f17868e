// The command `observe`: reads the counters of an NFS mount over time, and writes what was asked as a mix.
#ifndef COORDINATOR_OBSERVE_COMMAND_H_
#define COORDINATOR_OBSERVE_COMMAND_H_

#include "coordinator/option/observe_options.h"

namespace iobench {

// Observes, or joins files. Prints what it found and returns the exit code; messages go to stderr. Ends early, as after
// the whole time, when TheInterrupt() is raised. REQUIRES: HandleSignals, and TakeObserve has checked the options.
int Observe(const ObserveOptions& options);

}  // namespace iobench

#endif  // COORDINATOR_OBSERVE_COMMAND_H_

// `cluster-iobench clean --hosts`: cleans on many hosts at the same time.
#ifndef COORDINATOR_COMMANDS_CLEAN_HOSTS_H_
#define COORDINATOR_COMMANDS_CLEAN_HOSTS_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Runs `clean` on every host of the list, and with --copies also removes the copies of --copy-binary there. A relative
// directory is relative to the current directory of this process, as in `run`. Prints a line for each host, those with
// faults last and with what to do. A directory may be shared: a host that cannot see whether a run is still alive is
// asked again when the others are done, and --force counts only if none of them sees it alive. Returns the exit code:
// kExitPartial if a host failed, kExitInterrupted after Ctrl-C. REQUIRES: HandleSignals.
int CleanHosts(const CleanupCommand& clean);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_CLEAN_HOSTS_H_

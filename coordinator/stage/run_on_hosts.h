// Runs on workers that this process starts on other hosts: --hosts, and IOzone's client list (-+m).
#ifndef COORDINATOR_STAGE_RUN_ON_HOSTS_H_
#define COORDINATOR_STAGE_RUN_ON_HOSTS_H_

#include "coordinator/stage/job.h"

namespace iobench {

// Listens, starts the workers of job.hosts or job.clients with a remote shell, and runs the command once they have
// joined. Each gets its credentials on standard input. Hosts that fail are reported on stderr, one line each. Returns
// the exit code. REQUIRES: HandleSignals.
int RunOnHosts(const Job& job);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_RUN_ON_HOSTS_H_

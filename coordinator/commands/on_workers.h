// `cluster-iobench [run]` and `cluster-iobench selftest`: from the command line to a plan on a transport.
#ifndef COORDINATOR_COMMANDS_ON_WORKERS_H_
#define COORDINATOR_COMMANDS_ON_WORKERS_H_

#include <string>

#include "coordinator/command_line/cli.h"

namespace iobench {

// Builds and checks the plan, sets the transport up, runs the command and returns the exit code; kExitUsage if the
// command line or the plan is refused, before anything is written. Errors are printed on stderr as one line. Under MPI
// every rank calls it, but only rank 0 reads the plan and prints; the others serve as workers. Installs the signal
// handlers, so it is for the main thread only. `command`: as typed, for the report.
int RunOrSelftest(const CommandLine& line, const std::string& command);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_ON_WORKERS_H_

// The commands that need the workers of a run, each in a file of its own (run.cc, preflight.cc, validate.cc, capacity.cc,
// selftest.cc): from its options to a plan on a transport.
#ifndef COORDINATOR_COMMANDS_JOB_COMMANDS_H_
#define COORDINATOR_COMMANDS_JOB_COMMANDS_H_

#include <string>

#include "coordinator/options/command_options.h"

namespace iobench {

// Each builds and checks the plan, sets the transport up, runs the command and returns the exit code; kExitUsage if the
// options or the plan are refused, before anything is written. Errors are printed on stderr as one line. Under MPI every
// rank calls it, but only rank 0 reads the plan and prints; the others serve as workers. Installs the signal handlers, so
// it is for the main thread only. `typed`: the command line, for the report.
int Execute(const RunCommand& run, const std::string& typed);
int Execute(const PreflightCommand& preflight, const std::string& typed);
int Execute(const ValidateCommand& validate, const std::string& typed);
int Execute(const CapacityCommand& capacity, const std::string& typed);
int Execute(const SelftestCommand& selftest, const std::string& typed);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_JOB_COMMANDS_H_

// `cluster-iobench [run]` and `cluster-iobench selftest`: from the command line to a plan on a transport.
#ifndef COORDINATOR_RUN_OR_SELFTEST_H_
#define COORDINATOR_RUN_OR_SELFTEST_H_

#include <string>

#include "coordinator/option/cli.h"

namespace iobench {

// Builds and checks the plan, sets the transport up, runs the command and returns the exit code. `command`: as typed.
int RunOrSelftest(const CommandLine& line, const std::string& command);

}  // namespace iobench

#endif  // COORDINATOR_RUN_OR_SELFTEST_H_

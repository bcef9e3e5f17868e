// The network test (-+t), which `run` carries out in place of a plan.
#ifndef COORDINATOR_COMMANDS_NET_TEST_H_
#define COORDINATOR_COMMANDS_NET_TEST_H_

#include "coordinator/options/command_options.h"
#include "coordinator/stage/stage.h"

namespace iobench {

// Prints the figures, and returns the exit code. kExitInterrupted: interrupted; kExitPartial: a worker was lost; kExitUsage:
// any other failure.
int NetTest(const Stage& stage, const RunCommand& line);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_NET_TEST_H_

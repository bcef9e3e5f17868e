// The coordinator's commands, for any transport that main.cc has set up.
#ifndef COORDINATOR_RUN_RUN_COMMAND_H_
#define COORDINATOR_RUN_RUN_COMMAND_H_

#include <string>

#include "absl/status/status.h"
#include "common/transport/transport.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/option/cli.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The environment that a command runs in.
struct Stage {
  Transport& transport;
  uint32_t worker_count = 1;
  const Interrupt& interrupt;
  v1::WorkerFacts coordinator;  // host, boot id and clock of this process
  std::string command;          // as typed
  JoinWatch join_watch = {};
};

// Each returns the exit code. Errors are printed on stderr as one line.
int RunPlan(const Stage& stage, const CommandLine& line, const v1::Plan& plan);
int Selftest(const Stage& stage, const CommandLine& line);
int NetTest(const Stage& stage, const CommandLine& line);  // -+t
// Prints a saved run. Returns kExitIo if a phase is damaged or missing; the others are printed, and a line names the
// missing ones.
int PrintSavedRun(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_RUN_RUN_COMMAND_H_

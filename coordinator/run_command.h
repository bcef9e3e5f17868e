// The commands that a coordinator carries out, over whatever transport main.cc has set up.
#ifndef COORDINATOR_RUN_COMMAND_H_
#define COORDINATOR_RUN_COMMAND_H_

#include <string>

#include "absl/status/status.h"
#include "common/transport/transport.h"
#include "coordinator/cli.h"
#include "coordinator/interrupt.h"
#include "coordinator/join_watch.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Everything a command needs to know about where it runs.
struct Stage {
  Transport& transport;
  uint32_t worker_count = 1;
  const Interrupt& interrupt;
  v1::WorkerFacts coordinator;  // host, boot id, clock of this process
  std::string command;          // as typed
  JoinWatch join_watch = {};
};

// Each returns the exit code. Errors go to stderr as one line.
int RunPlan(const Stage& stage, const CommandLine& line, const v1::Plan& plan);
int Selftest(const Stage& stage, const CommandLine& line);
int NetTest(const Stage& stage, const CommandLine& line);  // -+t
// kExitIo where a phase is damaged or missing: the others are printed, and a line says which are not.
int PrintSavedRun(const std::string& directory);

// `exit_code`; where standard output could not be written that is said on stderr, and kExitOk becomes `exit_if_lost`. A
// pipe that nobody reads any more (`| head`) is no such case.
int ExitOfPrinting(int exit_code, int exit_if_lost);

// "cluster-iobench: MESSAGE" on stderr, in one line, harmless to a terminal.
void PrintError(const std::string& message);

}  // namespace iobench

#endif  // COORDINATOR_RUN_COMMAND_H_

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

// The environment that a command runs in. The thread that calls the command must own the transport.
struct Stage {
  Transport& transport;
  uint32_t worker_count = 1;  // how many must join
  const Interrupt& interrupt;
  v1::WorkerFacts coordinator;  // host, boot id and clock of this process
  std::string command;          // as typed
  JoinWatch join_watch = {};
};

// Each command returns the exit code and prints errors on stderr as one line. If standard output cannot be written,
// kExitOk becomes kExitIo.

// Runs a plan and prints its report as it proceeds. Results go to --out, or to a new directory in cluster-iobench.out.
// With --dry-run it only prints which worker would do what. `plan`: complete and checked. The exit code is that of
// Conductor::Run.
int RunPlan(const Stage& stage, const CommandLine& line, const v1::Plan& plan);
// Measures the tool itself with empty phases and saves nothing: the fixed cost of a phase, the skew of the starts, and
// the clock and the cost of an op on each client.
int Selftest(const Stage& stage, const CommandLine& line);
// The network test (-+t). kExitInterrupted: interrupted; kExitPartial: a worker was lost; kExitUsage: any other
// failure.
int NetTest(const Stage& stage, const CommandLine& line);
// Prints a saved run, computed again from its raw data. Returns kExitUsage if there is none in `directory`, and kExitIo
// if a phase is damaged or missing; the others are printed, and a line names the missing ones.
int PrintSavedRun(const std::string& directory);

}  // namespace iobench

#endif  // COORDINATOR_RUN_RUN_COMMAND_H_

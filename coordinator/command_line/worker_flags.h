// The command `worker` on the command line.
#ifndef COORDINATOR_COMMAND_LINE_WORKER_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_WORKER_FLAGS_H_

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "coordinator/command_line/cli.h"

namespace iobench {

// Adds the command. `line` must outlive the parsing.
CLI::App* AddWorkerCommand(CLI::App& app, CommandLine& line);

// Makes `worker` the command of `line`. InvalidArgument: options that cannot be combined. REQUIRES: the app has parsed.
absl::Status TakeWorker(CommandLine& line);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_WORKER_FLAGS_H_

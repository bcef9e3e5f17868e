// The commands for saved runs on the command line: `report`, `compare` and `history`.
#ifndef COORDINATOR_COMMAND_LINE_SAVED_RUN_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_SAVED_RUN_FLAGS_H_

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "coordinator/command_line/cli.h"

namespace iobench {

// Each adds its command. `options` must outlive the parsing.
CLI::App* AddReportCommand(CLI::App& app, ReportOptions& options);
CLI::App* AddCompareCommand(CLI::App& app, CompareOptions& options);
CLI::App* AddHistoryCommand(CLI::App& app, CompareOptions& options);

// Makes `report` the command of `line`. InvalidArgument: options that cannot be combined. REQUIRES: the app has parsed.
absl::Status TakeReport(CommandLine& line);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_SAVED_RUN_FLAGS_H_

// The options of ClusterOptions on the command line.
#ifndef COORDINATOR_COMMAND_LINE_CLUSTER_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_CLUSTER_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/option/cluster_options.h"

namespace iobench {

// Returns the title of the help section of the options below.
const std::string& WhereGroup();
// Add the options that say where the workers are, and those about the results. `options` must outlive the parsing.
void AddClusterOptions(CLI::App& app, ClusterOptions& options);
// Adds those that protect connections, which the coordinator and the worker share.
void AddSecurityOptions(Adder& adder, ClusterOptions& options, const char* token_file_help);
void AddResultOptions(CLI::App& app, ClusterOptions& options);
// Adds the options of the checks before the first phase, of `run` and `preflight`.
void AddPreflightOptions(CLI::App& app, ClusterOptions& options);
// Returns all names that --format accepts.
std::vector<std::string> FormatChoices();

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_CLUSTER_FLAGS_H_

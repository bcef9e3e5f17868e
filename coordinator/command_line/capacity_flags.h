// The command `capacity` on the command line.
#ifndef COORDINATOR_COMMAND_LINE_CAPACITY_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_CAPACITY_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "coordinator/command_line/table_options.h"
#include "coordinator/option/capacity_options.h"
#include "coordinator/option/cluster_options.h"
#include "coordinator/option/option.h"

namespace iobench {

// Adds the command to `app`, which owns it, still without options.
CLI::App* AddCapacityCommand(CLI::App& app);

// Adds its options. `table` gets the options of `run`, which describe the workload. All must outlive the parsing.
// `words` gets the words that belong to no option.
void AddCapacityOptions(CLI::App& capacity, CapacityOptions& options, ClusterOptions& cluster, bool& dry_run,
                        TableOptions& table, std::vector<std::string>& words);

// With --saved: refuses options that need a measurement, since only questions can be asked again. REQUIRES: `app` has
// parsed.
absl::Status CheckSavedCapacity(const CLI::App& app, const CapacityOptions& options, bool has_workload);

// Fills in the workload and the times that the user did not give, unless a plan or suite has them. `own_paths`: the
// clients of a list test directories of their own. InvalidArgument: there is no directory, an option of `run` has no
// meaning here, or options of capacity contradict each other.
absl::Status CompleteCapacity(const CapacityOptions& options, bool own_paths, GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_CAPACITY_FLAGS_H_

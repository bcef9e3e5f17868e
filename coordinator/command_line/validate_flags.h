// The command `validate` on the command line.
#ifndef COORDINATOR_COMMAND_LINE_VALIDATE_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_VALIDATE_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/option/cluster_options.h"
#include "coordinator/option/option.h"
#include "coordinator/option/validate_options.h"

namespace iobench {

// Adds the command. All objects that it stores into must outlive the parsing. `words` gets the words that belong to no
// option.
CLI::App* AddValidateCommand(CLI::App& app, ValidateOptions& options, ClusterOptions& cluster,
                             std::vector<std::string>& words);

// Returns the options of the smallest plan that inspects the directory; its phases do not run. InvalidArgument: there
// is not exactly one directory, or it is a URL. `typed`: all arguments, for messages.
absl::StatusOr<GivenOptions> WhereToValidate(const ValidateOptions& options,
                                             const std::vector<std::string>& words,
                                             const std::vector<std::string>& typed);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_VALIDATE_FLAGS_H_

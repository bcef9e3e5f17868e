// The command `observe` on the command line.
#ifndef COORDINATOR_COMMAND_LINE_OBSERVE_FLAGS_H_
#define COORDINATOR_COMMAND_LINE_OBSERVE_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "coordinator/option/observe_options.h"

namespace iobench {

// Adds the command; `options` and `words` must outlive the parsing. `words` gets the words that belong to no option.
CLI::App* AddObserveCommand(CLI::App& app, ObserveOptions& options, std::vector<std::string>& words);

// Takes the directory from `words` and fills in the interval. InvalidArgument: there is not exactly one directory, no
// time, an interval that is longer than the time or too short for it, or --merge with anything else. `typed`: all
// arguments, for messages.
absl::Status TakeObserve(const std::vector<std::string>& words, const std::vector<std::string>& typed,
                         ObserveOptions& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_OBSERVE_FLAGS_H_

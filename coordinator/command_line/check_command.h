// Checks what CLI11 has parsed for a command, and completes it.
#ifndef COORDINATOR_COMMAND_LINE_CHECK_COMMAND_H_
#define COORDINATOR_COMMAND_LINE_CHECK_COMMAND_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "coordinator/options/command_options.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/options/option.h"

namespace iobench {

// What the user typed beside the options that fill a command's struct.
struct Typed {
  const CLI::App& command;                    // has parsed
  const GivenOptions& given;                  // of kPlanOptions
  const std::vector<std::string>& words;      // belong to no option
  const std::vector<std::string>& arguments;  // all, for messages
  const ProgramStart& start;
};

// Each returns the command, complete, or a TextAnswer if the options ask for a list. InvalidArgument: options that cannot
// be combined, or lack another; the message is one line that says what to do. Accesses no file except suites.
absl::StatusOr<Command> Checked(RunCommand run, const Typed& typed);
absl::StatusOr<Command> Checked(PreflightCommand preflight, const Typed& typed);
absl::StatusOr<Command> Checked(ValidateCommand validate, const Typed& typed);
absl::StatusOr<Command> Checked(CapacityCommand capacity, const Typed& typed);
absl::StatusOr<Command> Checked(JoinCommand worker, const Typed& typed);
absl::StatusOr<Command> Checked(ReportCommand report, const Typed& typed);
absl::StatusOr<Command> Checked(CompareCommand compare, const Typed& typed);
absl::StatusOr<Command> Checked(HistoryCommand history, const Typed& typed);
absl::StatusOr<Command> Checked(ObserveCommand observe, const Typed& typed);
absl::StatusOr<Command> Checked(SelftestCommand selftest, const Typed& typed);
absl::StatusOr<Command> Checked(CleanupCommand clean, const Typed& typed);
absl::StatusOr<Command> Checked(TranslateCommand translate, const Typed& typed);

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_CHECK_COMMAND_H_

// Parses the command line and checks what can be checked without accessing anything.
#ifndef COORDINATOR_COMMAND_LINE_CLI_H_
#define COORDINATOR_COMMAND_LINE_CLI_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/text/terminal_width.h"
#include "coordinator/options/command_options.h"
#include "coordinator/options/iozone_output.h"

namespace iobench {

// Parses `arguments`, which exclude the program's name; without a command they are those of `run`. Reads the files of
// suites, looks whether words name directories, and accesses nothing else of the file system. `help_columns`: the width
// of texts that are asked for. `start`: how the program was started. InvalidArgument: one line that says what to do.
// NotFound: the suites are not installed.
absl::StatusOr<Command> ParseCommandLine(const std::vector<std::string>& arguments,
                                         size_t help_columns = kPipedColumns, const ProgramStart& start = {});

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_CLI_H_

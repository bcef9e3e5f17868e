// The command `report`: prints a saved run, or writes it in another format.
#ifndef COORDINATOR_COMMANDS_REPORT_H_
#define COORDINATOR_COMMANDS_REPORT_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Prints a saved run, computed again from its raw data, or writes it in one of the formats of `--format`, or checks it
// (`--verify`). Returns kExitUsage if there is no run in the directory or the output exists, and kExitIo if a phase is
// damaged or missing, or the output cannot be written, or a check fails; a damaged phase is named, and the others are
// printed.
int PrintSavedRun(const ReportCommand& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_REPORT_H_

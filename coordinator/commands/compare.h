// The command `compare`: several saved runs against the first.
#ifndef COORDINATOR_COMMANDS_COMPARE_H_
#define COORDINATOR_COMMANDS_COMPARE_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Compares the runs in the other directories with that in the first one. One directory: its repetitions.
// Computes the runs again from their raw data, one at a time, and writes the result on standard output or into a file.
// Returns kExitUsage if a directory holds no run, is given twice, or nothing can be compared or judged; kExitIo if a phase is
// damaged or missing, or the output cannot be written; kExitThreshold if a phase is below --fail-under; --inconclusive if none
// is, but some are not shown to reach it.
int CompareSavedRuns(const CompareCommand& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_COMPARE_H_

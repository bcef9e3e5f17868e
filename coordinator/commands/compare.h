// The commands `compare` and `history`: several saved runs against each other.
#ifndef COORDINATOR_COMMANDS_COMPARE_H_
#define COORDINATOR_COMMANDS_COMPARE_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Both compute the runs again from their raw data, one at a time, and write the result on standard output or into a
// file. They return kExitUsage if a directory holds no run, is given twice, or nothing can be compared or judged;
// kExitIo if a phase is damaged or missing, or the output cannot be written; kExitThreshold if a phase is below
// --fail-under; --inconclusive if none is, but some are not shown to reach it.

// Compares the runs in the other directories with that in the first one. One directory: its repetitions.
int CompareSavedRuns(const CompareCommand& options);
// Shows how the runs have changed over time. A directory that holds no run stands for the runs in its subdirectories.
int PrintHistory(const CompareCommand& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_COMPARE_H_

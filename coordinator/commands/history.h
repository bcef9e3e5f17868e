// The command `history`: how saved runs have changed over time.
#ifndef COORDINATOR_COMMANDS_HISTORY_H_
#define COORDINATOR_COMMANDS_HISTORY_H_

#include "coordinator/options/command_options.h"

namespace iobench {

// Shows how the runs have changed over time. A directory that holds no run stands for the runs in its subdirectories.
// Output and exit codes are those of CompareSavedRuns (compare.h).
int PrintHistory(const CompareCommand& options);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_HISTORY_H_

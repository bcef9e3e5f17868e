// `cluster-iobench clean DIR`.
#ifndef COORDINATOR_COMMANDS_CLEAN_H_
#define COORDINATOR_COMMANDS_CLEAN_H_

#include <string>
#include <vector>

namespace iobench {

// Removes the data that a crashed run left below each of `directories` (the run's --path), prints what it did, and
// returns the exit code: kExitOk also if there was nothing to remove, kExitUsage if the removal was refused or failed.
// Only files that the data directory's manifest accounts for are removed; others stay and are named. `force`: also if
// this host cannot tell whether the run is still alive.
int Clean(const std::vector<std::string>& directories, bool force);

}  // namespace iobench

#endif  // COORDINATOR_COMMANDS_CLEAN_H_

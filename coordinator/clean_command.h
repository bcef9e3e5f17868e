// `cluster-iobench clean DIR`.
#ifndef COORDINATOR_CLEAN_COMMAND_H_
#define COORDINATOR_CLEAN_COMMAND_H_

#include <string>

namespace iobench {

// Removes the data that a crashed run left below `directory`, prints what it did, and returns the exit code. `force`: also
// if this host cannot tell whether the run is still alive.
int Clean(const std::string& directory, bool force);

}  // namespace iobench

#endif  // COORDINATOR_CLEAN_COMMAND_H_

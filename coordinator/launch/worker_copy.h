// The self-contained worker program, which --copy-binary ships to hosts.
#ifndef COORDINATOR_LAUNCH_WORKER_COPY_H_
#define COORDINATOR_LAUNCH_WORKER_COPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/launch/remote_shell.h"

namespace iobench {

// Returns the places where it may be, in the order of search: beside the program (a build directory), then where it is
// installed.
std::vector<std::string> WorkerProgramPlaces(const std::string& program_directory);

// Finds it and computes its hash. NotFound: it is in none of these places; the message says how to build it.
// FailedPrecondition: it was built from other sources. Otherwise the status of the errno.
absl::StatusOr<ShippedProgram> FindWorkerProgram(const std::string& version);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_WORKER_COPY_H_

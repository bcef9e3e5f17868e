// How a command of this program fails.
#ifndef COORDINATOR_FAILURE_H_
#define COORDINATOR_FAILURE_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/run/conductor.h"
#include "coordinator/run/run_command.h"

namespace iobench {

// Prints the message and returns the exit code.
inline int Fail(const absl::Status& status, int exit_code) {
  PrintError(std::string(status.message()));
  return exit_code;
}

}  // namespace iobench

#endif  // COORDINATOR_FAILURE_H_

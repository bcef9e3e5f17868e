// Runs another program and waits for it to exit.
#ifndef COMMON_PROGRAM_H_
#define COMMON_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace iobench {

// Runs arguments[0], which is looked up in PATH, with the other arguments; its standard input is /dev/null. Blocks
// until it exits; signals do not interrupt the wait. Errors: the errno's status if the program cannot be started;
// Internal if it exits with a code other than 0 or is killed by a signal. The message contains the beginning of its
// stdout and stderr on one line.
absl::Status RunProgram(std::vector<std::string> arguments);

// Returns how a process ended that waitpid has reaped: "exit code 2", "exit code 137
// (signal 9, KILL)", "signal 9 (KILL)".
std::string EndingText(int wait_status);

}  // namespace iobench

#endif  // COMMON_PROGRAM_H_

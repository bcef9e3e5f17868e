// How a command of this program ends: its exit codes, and what it prints when it fails.
#ifndef COORDINATOR_PROCESS_FAILURE_H_
#define COORDINATOR_PROCESS_FAILURE_H_

#include <string>

#include "absl/status/status.h"

namespace iobench {

// The program's exit codes, part of its interface: scripts and launchers act on them.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,      // invalid usage or plan; nothing was written
  kExitIo = 2,         // I/O or verification failed
  kExitPartial = 3,    // a worker was lost, or workers did not join
  kExitThreshold = 4,  // a threshold was not met
  kExitInterrupted = 130,
};

// Prints "cluster-iobench: MESSAGE" on stderr, safe for terminals: one line, which a terminal gets in lines of its width.
void PrintError(const std::string& message);

// Prints the message of `status` and returns `exit_code`, unless a file system did not answer: kExitIo, kExitPartial if it is
// one to be tested, or kExitInterrupted if Ctrl-C ended the wait.
int Fail(const absl::Status& status, int exit_code);

// The same for a message with a line for each of several faults.
int FailEach(const absl::Status& status, int exit_code);

// Flushes standard output and returns `exit_code`. If it could not be written, reports this on stderr and returns
// `exit_if_lost` in place of kExitOk. A closed pipe (`| head`) does not count as a failure.
int ExitOfPrinting(int exit_code, int exit_if_lost);

}  // namespace iobench

#endif  // COORDINATOR_PROCESS_FAILURE_H_

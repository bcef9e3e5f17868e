// Runs a command of the user that makes a fault, while the workers' events are handled.
#ifndef COORDINATOR_VALIDATE_CHECKS_HOOK_RUN_H_
#define COORDINATOR_VALIDATE_CHECKS_HOOK_RUN_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/validate/checks/check_context.h"

namespace iobench {

struct HookRun {
  std::string problem;  // empty: the command exited with 0
  double seconds = 0;   // until it ended, or was given up; 0: it could not be started
};

// Blocks the cluster's thread until the command has ended, for at most ValidateLimits.fault_timeout_s, after which its
// process group is killed. Its environment has IOBENCH_PATH and `variables`. Its output is kept only if it failed, in a
// new file for temporary files, which the problem names. Errors: Cancelled: interrupted, and the command killed; or the transport's.
absl::StatusOr<HookRun> RunHook(CheckContext& context, const std::string& command,
                                std::map<std::string, std::string> variables);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_HOOK_RUN_H_

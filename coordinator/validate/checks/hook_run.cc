#include "coordinator/validate/checks/hook_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/child_process.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {

absl::StatusOr<HookRun> RunHook(CheckContext& context, const std::string& command,
                                std::map<std::string, std::string> variables, const std::string& log) {
  Cluster& cluster = context.files.cluster();
  variables["IOBENCH_PATH"] = context.path;
  HookRun run;
  const CoordTime begin = cluster.Now();
  auto hook = ChildProcess::StartCommand(command, variables, log);
  if (!hook.ok()) {
    run.problem = std::string(hook.status().message());
    return run;
  }
  bool ended = false;
  IOBENCH_RETURN_IF_ERROR(WaitFor(cluster, NanosFrom(context.limits.fault_timeout_s), [&] {
    ended = ended || hook->Ended();
    return ended;
  }));
  run.seconds = SecondsFrom(cluster.Now() - begin);
  const std::string see = absl::StrCat(": see ", log);
  if (!ended) {
    hook->KillGroup();
    run.problem =
        absl::StrCat("it had not ended after ", FormatSeconds(run.seconds), " (--fault-timeout)", see);
  } else if (!hook->ending().well()) {
    run.problem = absl::StrCat("it ended with ", hook->ending().Text(), see);
  }
  return run;
}

}  // namespace iobench

#include "coordinator/validate/checks/hook_run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/child_process.h"
#include "common/process/temporary_directory.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/unique_fd.h"
#include "coordinator/files/files.h"

namespace iobench {
namespace {

// Returns ": see FILE" once the output is in a file of its own, or why it is not.
std::string Kept(int output) {
  const TemporaryParent parent = TemporaryParentHere();
  std::string path = absl::StrCat(parent.path, "/cluster-iobench-hook-XXXXXX");
  if (const absl::Status status = files::MountAnswers("the directory", parent.path); !status.ok())
    return absl::StrCat(", and its output could not be kept: ", status.message());
  const UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  off_t from = 0;
  ssize_t copied = file.valid() ? 1 : -1;
  while (copied > 0) copied = sendfile(file.get(), output, &from, 1 << 20);
  if (copied == 0) return absl::StrCat(": see ", path);
  const absl::Status status = parent.Error(path, errno);
  if (file.valid()) unlink(path.c_str());
  return absl::StrCat(", and its output could not be kept: ", status.message());
}

}  // namespace

absl::StatusOr<HookRun> RunHook(CheckContext& context, const std::string& command,
                                std::map<std::string, std::string> variables) {
  Cluster& cluster = context.files.cluster();
  variables["IOBENCH_PATH"] = context.path;
  HookRun run;
  const CoordTime begin = cluster.Now();
  // In memory, so that nothing is left of it however this process ends.
  const UniqueFd output(memfd_create("hook", MFD_CLOEXEC));
  auto hook = output.valid()
                  ? ChildProcess::Start({.program = "/bin/sh",
                                         .arguments = {"sh", "-c", command},
                                         .variables = variables,
                                         .output_fd = output.get()})
                  : absl::StatusOr<ChildProcess>(ErrnoStatus("a file in memory for its output", errno));
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
  if (!ended) {
    hook->KillGroup();
    run.problem =
        absl::StrCat("it had not ended after ", FormatSeconds(run.seconds), " (--fault-timeout)", Kept(output.get()));
  } else if (!hook->ending().well()) {
    run.problem = absl::StrCat("it ended with ", hook->ending().Text(), Kept(output.get()));
  }
  return run;
}

}  // namespace iobench

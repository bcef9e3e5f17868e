#include "coordinator/commands/worker_slots.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/process/cgroup_limits.h"
#include "common/process/thread_limit.h"
#include "common/status_util.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/token_file.h"
#include "common/unique_fd.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/launch/launcher.h"
#include "coordinator/commands/worker.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"

namespace iobench {
namespace {

constexpr useconds_t kLookForEndedUs = 20'000;

// `arguments` without those that differ between the workers, "--slots N" and "--slots=N", and --sampler. A sampler has
// no lanes, so it refuses their limit.
std::vector<std::string> CommonArguments(const std::vector<std::string>& arguments, bool of_sampler) {
  std::vector<std::string> left_out = {"--slots", "--place", "--server-workers"};
  if (of_sampler) left_out.push_back("--max-lanes");
  std::vector<std::string> common = {"cluster-iobench"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) {
      // Its value is the next word.
      if (name == argument) ++i;
    } else if (argument != "--sampler") {
      common.push_back(argument);
    }
  }
  return common;
}

int ExitCodeOf(const Ending& ending) {
  return ending.exit_code() >= 0 ? ending.exit_code() : kExitPartial;
}

}  // namespace

int RunWorkerSlots(const JoinCommand& line, const std::vector<std::string>& arguments) {
  // Each worker gets a descriptor of it with an offset of its own.
  absl::StatusOr<UniqueFd> input = UniqueFd();
  if (line.token_file == "-") {
    const auto credentials = TokenOnInput(line);
    if (!credentials.ok()) return ExitWithoutToken(credentials.status());
    input = TokenInput(*credentials);
  }
  if (!input.ok()) return Fail(input.status(), kExitUsage);
  ChildProcesses workers(SIGTERM);
  OomWatch oom_watch;
  const uint32_t processes = line.server_workers > 0 ? 1 + line.server_workers : line.slots;
  const absl::Status enough = CheckThreads(ThreadLimitOfThisProcess(), processes * ThreadsOfWorker(/*lanes=*/1),
                                           absl::StrCat(processes, " workers on this host"), "use fewer workers");
  if (!enough.ok()) return Fail(enough, kExitUsage);
  for (uint32_t slot = 0; slot < processes; ++slot) {
    UniqueFd reader;
    if (input->valid()) {
      reader = UniqueFd(open(absl::StrCat("/proc/self/fd/", input->get()).c_str(), O_RDONLY | O_CLOEXEC));
      if (!reader.valid()) return Fail(ErrnoStatus("/proc/self/fd", errno), kExitUsage);
    }
    const bool is_sampler = line.server_workers > 0 && slot == 0;
    std::vector<std::string> own = CommonArguments(arguments, is_sampler);
    if (line.server_workers > 0) own.push_back(is_sampler ? "--sampler" : "--server");
    if (line.client_list_position > 0) {
      own.insert(own.end(), {"--place", absl::StrCat(line.client_list_position + slot)});
    }
    const absl::Status started =
        workers.Start("/proc/self/exe", own, /*output_fd=*/-1, SIGKILL, reader.get());
    if (!started.ok()) return Fail(started, kExitUsage);
  }
  if (chdir("/") != 0)
    return Fail(ErrnoStatus("chdir /", errno), kExitUsage);  // so that no unmounting is prevented
  int exit_code = kExitOk;
  for (uint32_t left = processes; left > 0 && !StopWorker();) {
    const auto ended = workers.NextEnded();
    if (!ended) {
      usleep(kLookForEndedUs);
      continue;
    }
    --left;
    exit_code = std::max(exit_code, ExitCodeOf(ended->ending));
    if (line.stay) {
      usleep(kLookForEndedUs);  // a signal to all processes may reach this one last
      if (StopWorker()) break;
      PrintError(absl::StrCat("worker process ", ended->index + 1, " of ", processes, " has ended: ",
                              ended->ending.Text(), oom_watch.ReasonText(),
                              "; the others end too, because later runs would lack it"));
      if (ended->ending.well()) exit_code = kExitPartial;
      break;
    }
    if (ended->ending.well()) continue;
    PrintError(
        SlotEnded(line.client_list_position + static_cast<uint32_t>(ended->index),
                  absl::StrCat(ended->ending.Text(), oom_watch.ReasonText())));
  }
  if (StopWorker()) return line.stay ? kExitOk : kExitInterrupted;
  return exit_code;
}

}  // namespace iobench

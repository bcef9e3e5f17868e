// cluster-iobench-worker: the commands `worker` and `clean` alone, as one statically linked file that needs no library
// of its host. cmake/Bundle.cmake builds it.
#include <signal.h>
#include <sys/prctl.h>

#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "common/open_file_limit.h"
#include "common/process/end_of_memory.h"
#include "common/process/self_contained.h"
#include "common/process/standard_descriptors.h"
#include "common/process/thread.h"
#include "common/text/log.h"
#include "coordinator/commands/clean.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"
#include "coordinator/process/user.h"
#include "coordinator/commands/worker.h"
#include "coordinator/commands/worker_slots.h"

namespace iobench {
namespace {

int WorkerMain(const std::vector<std::string>& arguments) {
  KeepLookupsBuiltIn();
  signal(SIGXFSZ, SIG_IGN);  // as in main.cc
  RaiseOpenFileLimit();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  LogToStandardError();
  const auto command = ParseCommandLine(arguments);
  if (!command.ok()) return Fail(command.status(), kExitUsage);
  if (const std::string user = UserOf(*command); !user.empty()) {
    if (const absl::Status now = BecomeUser(user); !now.ok()) return Fail(now, kExitUsage);
  }
  if (const auto* const answer = std::get_if<TextAnswer>(&*command);
      answer != nullptr && !answer->misuse && !answer->lists_csv_columns) {
    std::cout << answer->text << std::flush;
    return kExitOk;
  }
  if (const auto* const worker = std::get_if<JoinCommand>(&*command)) {
    HandleSignals();
    return worker->slots > 1 || worker->server_workers > 0 ? RunWorkerSlots(*worker, arguments) : RunWorker(*worker);
  }
  // `clean --hosts` uses it where nothing else is installed.
  if (const auto* const clean = std::get_if<CleanupCommand>(&*command); clean != nullptr && clean->hosts.empty()) {
    return Clean(clean->directories, clean->force);
  }
  return Fail(
      absl::InvalidArgumentError("this program is only the worker: `worker --join ADDR` is its one command"),
      kExitUsage);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  ::prctl(PR_SET_NAME, "cluster-iobench");  // `ps` calls those "exe" that were started from /proc/self/exe
  iobench::OpenStandardDescriptors();
  iobench::UseSmallThreadStacks();
  iobench::EndClearlyWithoutMemory(iobench::kExitPartial);
  return iobench::WorkerMain(std::vector<std::string>(argv + 1, argv + argc));
}

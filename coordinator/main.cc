// The program: the list of its commands.
#include <signal.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/open_file_limit.h"
#include "common/process/end_of_memory.h"
#include "common/process/standard_descriptors.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "common/transport/mpi_launch.h"
#include "coordinator/commands/clean.h"
#include "coordinator/commands/clean_hosts.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/commands/compare.h"
#include "coordinator/commands/observe.h"
#include "coordinator/commands/report.h"
#include "coordinator/run/failure.h"
#include "coordinator/run/run_command.h"
#include "coordinator/commands/on_workers.h"
#include "coordinator/process/signals.h"
#include "coordinator/process/user.h"
#include "coordinator/commands/worker.h"
#include "coordinator/commands/worker_slots.h"

namespace iobench {
namespace {

int Main(const std::vector<std::string>& arguments) {
  signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit (ulimit -f) becomes an error of the op
  RaiseOpenFileLimit();      // each lane has open files, each worker a connection
  signal(SIGPIPE, SIG_IGN);  // `cluster-iobench … | head` must not abort a run
  signal(SIGCHLD, SIG_DFL);  // if it stayed ignored by inheritance, the exit codes of children would be lost
  LogToStandardError();
  auto line = ParseCommandLine(arguments);
  // Only the first MPI rank prints. The others exit successfully, because a launcher ends all ranks as soon as one
  // fails.
  const bool speaks = LauncherPromises().promised_rank <= 0;
  if (!line.ok()) return speaks ? Fail(line.status(), kExitUsage) : int{kExitOk};
  if (!line->cluster.user.empty()) {
    if (const absl::Status now = BecomeUser(line->cluster.user); !now.ok()) {
      return speaks ? Fail(now, kExitUsage) : int{kExitUsage};
    }
  }
  switch (line->command) {
    case Command::kText:
    case Command::kUsage:
      if (speaks) std::cout << line->text << std::flush;
      return speaks && line->command == Command::kUsage ? kExitUsage : kExitOk;
    case Command::kReport:
      return PrintSavedRun(line->report);
    case Command::kCompare:
      return CompareSavedRuns(line->compare);
    case Command::kHistory:
      return PrintHistory(line->compare);
    case Command::kObserve:
      HandleSignals();
      return Observe(line->observe);
    case Command::kClean:
      if (line->cluster.hosts.empty()) return Clean(line->clean_directories, line->cluster.force);
      HandleSignals();
      return CleanHosts(*line);
    case Command::kWorker:
      EndClearlyWithoutMemory(kExitPartial);
      HandleSignals();
      return line->slots > 1 || line->server_workers > 0 ? RunWorkerSlots(*line, arguments)
                                                         : RunWorker(*line);
    case Command::kRun:
    case Command::kPreflight:
    case Command::kValidate:
    case Command::kCapacity:
    case Command::kSelftest:
      return RunOrSelftest(*line, absl::StrCat("cluster-iobench ", ShellCommand(arguments)));
  }
  return kExitUsage;
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  iobench::OpenStandardDescriptors();
  iobench::EndClearlyWithoutMemory(iobench::kExitUsage);
  const int exit_code = iobench::Main(std::vector<std::string>(argv + 1, argv + argc));
  // Every failure has already been reported, including a run's own lost output.
  return exit_code == iobench::kExitOk ? iobench::ExitOfPrinting(exit_code, iobench::kExitUsage) : exit_code;
}

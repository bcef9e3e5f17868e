// The program: the list of its commands.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/open_file_limit.h"
#include "common/process/end_of_memory.h"
#include "common/process/self_contained.h"
#include "common/process/standard_descriptors.h"
#include "common/process/thread.h"
#include "common/text/log.h"
#include "common/text/shell_word.h"
#include "common/text/terminal_width.h"
#include "common/transport/mpi_launch.h"
#include "coordinator/commands/clean.h"
#include "coordinator/commands/clean_hosts.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/commands/compare.h"
#include "coordinator/commands/csv_help.h"
#include "coordinator/commands/history.h"
#include "coordinator/commands/observe.h"
#include "coordinator/commands/report.h"
#include "coordinator/commands/translate.h"
#include "coordinator/files/file_helper.h"
#include "coordinator/files/files.h"
#include "coordinator/options/iozone_output.h"
#include "coordinator/process/failure.h"
#include "coordinator/commands/job_commands.h"
#include "coordinator/process/fitted_stream.h"
#include "coordinator/process/signals.h"
#include "coordinator/process/user.h"
#include "coordinator/commands/worker.h"
#include "coordinator/commands/worker_slots.h"

namespace iobench {
namespace {

// For commands that only read results: their calls are many, and Ctrl-C ends them as it ends any program.
template <typename Command>
int OnceResultsAnswer(const std::vector<std::string>& directories, Command command) {
  StartFileHelpers();
  for (const std::string& directory : directories) {
    if (const absl::Status answers = files::MountAnswers("the results in", directory); !answers.ok())
      return Fail(answers, kExitUsage);
  }
  EndFileHelpers();
  return command();
}

// Executes each command. `speaks`: false on MPI ranks that must not print.
struct Executor {
  const std::string& program;  // as reports name it in the command
  const std::vector<std::string>& arguments;
  bool speaks;

  int operator()(const TextAnswer& answer) const {
    if (speaks) std::cout << (answer.lists_csv_columns ? CsvHelp(TextColumns(STDOUT_FILENO)) : answer.text) << std::flush;
    return speaks && answer.misuse ? kExitUsage : kExitOk;
  }
  int operator()(const ReportCommand& report) const {
    return OnceResultsAnswer({report.directory}, [&] { return PrintSavedRun(report); });
  }
  int operator()(const CompareCommand& compare) const {
    return OnceResultsAnswer(compare.directories, [&] { return CompareSavedRuns(compare); });
  }
  int operator()(const HistoryCommand& history) const {
    return OnceResultsAnswer(history.directories, [&] { return PrintHistory(history); });
  }
  int operator()(const ObserveCommand& observe) const {
    StartFileHelpers();
    HandleSignals();
    SayAtSecondSignal("no observation was saved");
    return Observe(observe);
  }
  int operator()(const CleanupCommand& clean) const {
    StartFileHelpers();
    if (clean.hosts.empty()) return Clean(clean.directories, clean.force);
    HandleSignals();
    return CleanHosts(clean);
  }
  int operator()(const JoinCommand& worker) const {
    EndClearlyWithoutMemory(kExitPartial);
    HandleSignals();
    return worker.slots > 1 || worker.server_workers > 0 ? RunWorkerSlots(worker, arguments) : RunWorker(worker);
  }
  int operator()(const TranslateCommand& translate) const {
    if (!speaks) return kExitOk;
    StartFileHelpers();
    return TranslateLine(translate);
  }
  template <typename Job>
  int operator()(const Job& job) const {
    if (speaks) StartFileHelpers();
    return Execute(job, absl::StrCat(program, " ", ShellCommand(arguments)));
  }
};

int Main(const std::string& typed_name, const std::vector<std::string>& arguments) {
  KeepLookupsBuiltIn();
  signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit (ulimit -f) becomes an error of the op
  RaiseOpenFileLimit();      // each lane has open files, each worker a connection
  signal(SIGPIPE, SIG_IGN);  // `cluster-iobench … | head` must not abort a run
  signal(SIGCHLD, SIG_DFL);  // if it stayed ignored by inheritance, the exit codes of children would be lost
  LogToStandardError();
  // A launcher of MPI may show on a terminal what ranks write into a pipe.
  const bool may_be_terminal = isatty(STDOUT_FILENO) == 1 || LauncherPromises().promised_rank >= 0;
  const ProgramStart start{.by_iozones_name = IsIozonesName(typed_name),
                           .stdout_is_terminal = may_be_terminal};
  const std::string program = start.by_iozones_name ? "iozone" : "cluster-iobench";
  const auto command = ParseCommandLine(arguments, TextColumns(STDOUT_FILENO), start);
  // Only the first MPI rank prints. The others exit successfully, because a launcher ends all ranks as soon as one
  // fails.
  const bool speaks = LauncherPromises().promised_rank <= 0;
  if (!command.ok()) return speaks ? Fail(command.status(), kExitUsage) : int{kExitOk};
  if (const std::string user = UserOf(*command); !user.empty()) {
    if (const absl::Status now = BecomeUser(user); !now.ok()) {
      return speaks ? Fail(now, kExitUsage) : int{kExitUsage};
    }
  }
  return std::visit(Executor{program, arguments, speaks}, *command);
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  ::prctl(PR_SET_NAME, "cluster-iobench");  // `ps` calls those "exe" that were started from /proc/self/exe
  iobench::OpenStandardDescriptors();
  iobench::UseSmallThreadStacks();
  iobench::EndClearlyWithoutMemory(iobench::kExitUsage);
  const iobench::FittedStream fitted(std::cerr, STDERR_FILENO);
  const int exit_code =
      iobench::Main(argc > 0 ? argv[0] : "", std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  iobench::EndFileHelpers();
  // Every failure has already been reported, including a run's own lost output.
  return exit_code == iobench::kExitOk ? iobench::ExitOfPrinting(exit_code, iobench::kExitUsage) : exit_code;
}

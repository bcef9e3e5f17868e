#include "coordinator/worker_slots.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "coordinator/launch/child_processes.h"
#include "coordinator/launch/launcher.h"
#include "coordinator/run/failure.h"
#include "coordinator/signals.h"

namespace iobench {
namespace {

constexpr useconds_t kLookForEndedUs = 20'000;

// Copies standard input into a memory file, of which each worker gets a descriptor with its own offset.
absl::StatusOr<UniqueFd> CopyOfInput() {
  UniqueFd copy(memfd_create("input", MFD_CLOEXEC));
  if (!copy.valid()) return ErrnoStatus("memory for standard input", errno);
  char piece[4096];
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, piece, sizeof(piece));
    if (count < 0 && errno == EINTR && !StopWorker()) continue;
    if (count < 0) return ErrnoStatus("read standard input", errno);
    if (count == 0) return copy;
    if (write(copy.get(), piece, static_cast<size_t>(count)) != count) {
      return ErrnoStatus("memory for standard input", errno);
    }
  }
}

// `arguments` without those that differ between the workers, "--slots N" and "--slots=N", and those of samplers.
std::vector<std::string> CommonArguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> common = {"cluster-iobench"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--slots" || argument == "--place" || argument == "--server-workers") {
      ++i;
    } else if (argument != "--sampler" && !argument.starts_with("--slots=") &&
               !argument.starts_with("--place=") && !argument.starts_with("--server-workers=")) {
      common.push_back(argument);
    }
  }
  return common;
}

int ExitCodeOf(const ChildProcesses::Ending& ending) {
  return WIFEXITED(ending.wait_status) ? WEXITSTATUS(ending.wait_status) : kExitPartial;
}

}  // namespace

int RunWorkerSlots(const CommandLine& line, const std::vector<std::string>& arguments) {
  absl::StatusOr<UniqueFd> input = UniqueFd();
  if (line.cluster.token_file == "-") input = CopyOfInput();
  if (!input.ok()) return Fail(input.status(), kExitUsage);
  ChildProcesses workers(SIGTERM);
  const uint32_t processes = line.server_workers > 0 ? 1 + line.server_workers : line.slots;
  for (uint32_t slot = 0; slot < processes; ++slot) {
    UniqueFd reader;
    if (input->valid()) {
      reader = UniqueFd(open(absl::StrCat("/proc/self/fd/", input->get()).c_str(), O_RDONLY | O_CLOEXEC));
      if (!reader.valid()) return Fail(ErrnoStatus("/proc/self/fd", errno), kExitUsage);
    }
    std::vector<std::string> own = CommonArguments(arguments);
    if (line.server_workers > 0) own.push_back(slot == 0 ? "--sampler" : "--server");
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
    exit_code = std::max(exit_code, ExitCodeOf(*ended));
    if (line.stay) {
      usleep(kLookForEndedUs);  // a signal to all processes may reach this one last
      if (StopWorker()) break;
      PrintError(absl::StrCat("worker process ", ended->index + 1, " of ", processes, " has ended: ",
                              ended->ForPeople(), "; the others end too, because later runs would lack it"));
      if (ended->well()) exit_code = kExitPartial;
      break;
    }
    if (ended->well()) continue;
    PrintError(
        SlotEnded(line.client_list_position + static_cast<uint32_t>(ended->index), ended->ForPeople()));
  }
  if (StopWorker()) return line.stay ? kExitOk : kExitInterrupted;
  return exit_code;
}

}  // namespace iobench

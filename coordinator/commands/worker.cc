#include "coordinator/commands/worker.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process/last_resort.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/units.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/grpc/token_file.h"
#include "common/transport/grpc_address.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/process/failure.h"
#include "coordinator/process/signals.h"
#include "worker/client/client_probe.h"
#include "worker/janitor.h"
#include "worker/rights/worker_rights.h"
#include "worker/simulated/simulated_workers.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

constexpr double kFirstPause_s = 1;
constexpr double kMaxPause_s = 30;
constexpr double kForever_s = 1e9;
constexpr int64_t kLookNs = 50'000'000;  // for a signal

// With several workers in one process, only the first prints messages. One that stays prints only what is new.
std::function<void(double, const std::string&)> SayOnce(const JoinCommand& line) {
  return [&line, said_s = -1.0, said = std::string()](double waited_s, const std::string& why) mutable {
    if (said_s >= 0 && (line.stay ? why == said : waited_s - said_s < 10)) return;
    said_s = waited_s;
    said = why;
    const std::string until =
        line.stay ? "" : absl::StrCat(" (for up to ", FormatSeconds(line.join_timeout_s), ")");
    PrintError(absl::StrCat("waiting for a coordinator at ", line.join, until, why.empty() ? "" : ": ", why));
  };
}

// A file may be replaced by the next coordinator.
std::function<absl::StatusOr<JoinCredentials>()> CredentialsIn(const std::string& file, bool token_group) {
  const SecretReaders readers = token_group ? SecretReaders::kGroup : SecretReaders::kOwner;
  return [file, readers] { return ReadTokenFile(file, readers); };
}

// A file that is missing, the coordinator may still write, and the next coordinator may replace one (--stay). Any other
// that is no token file stays so, which is said before the wait for a coordinator.
absl::Status CheckTokenFile(const std::function<absl::StatusOr<JoinCredentials>()>& credentials, const JoinCommand& line) {
  if (line.stay) return absl::OkStatus();
  const absl::Status read = credentials().status();
  return absl::IsInvalidArgument(read) || absl::IsPermissionDenied(read) ? read : absl::OkStatus();
}

// Takes part in one run, as one worker or as several.
absl::Status ServeOneRun(const JoinCommand& line, const std::string& path, const GrpcWorkerOptions& options,
                         Janitor* janitor = nullptr) {
  std::optional<SimulationLoop> simulation;  // outlives its workers
  std::vector<std::unique_ptr<WorkerHandler>> workers;
  if (line.simulate > 0) {
    simulation.emplace();
    IOBENCH_RETURN_IF_ERROR(simulation->Start());
    workers = MakeSimulatedWorkers(line.simulate, *simulation);
  } else {
    WorkerOptions identity;
    identity.client_list_position = line.client_list_position;
    identity.path = path;
    identity.sampler = line.sampler;
    identity.server = line.server;
    workers.push_back(MakeWorkerService(identity, janitor));
  }
  std::vector<WorkerHandler*> handlers;
  for (const auto& worker : workers) handlers.push_back(worker.get());
  return RunGrpcWorkers(line.join, handlers, options);
}

void PauseUnlessStopped(double seconds) {
  const int64_t until_ns = MonotonicNowNs() + NanosFrom(seconds);
  while (MonotonicNowNs() < until_ns && !StopWorker()) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookNs));
  }
}

// Serves run after run until a signal. A run that fails, or a coordinator that sends this worker away, is reported.
int Stay(const JoinCommand& line, const std::string& path, GrpcWorkerOptions options) {
  options.join_timeout_s = kForever_s;
  double pause_s = kFirstPause_s;
  while (true) {
    options.on_waiting = SayOnce(line);
    const absl::Status status = ServeOneRun(line, path, options);
    if (absl::IsCancelled(status)) return kExitOk;
    if (absl::IsInvalidArgument(status)) return Fail(status, kExitUsage);
    if (!status.ok())
      PrintError(absl::StrCat(std::string(status.message()), "; waiting for the next coordinator"));
    pause_s = status.ok() ? kFirstPause_s : std::min(2 * pause_s, kMaxPause_s);
    PauseUnlessStopped(pause_s);
    if (StopWorker()) return kExitOk;
  }
}

// What this worker permits the coordinator. One that it was started by, at a socket in a directory of its own, may do what
// this user may; any other can be anybody's, so only what this command line names is allowed.
absl::StatusOr<WorkerRights> RightsFrom(const JoinCommand& line, const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const GrpcAddress address, ParseGrpcAddress(line.join));
  WorkerRights rights;
  std::vector<std::string> roots = line.roots;
  if (!path.empty()) roots.push_back(path);
  if (!(line.spawned && address.is_unix())) {
    if (roots.empty() && !line.sampler) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a worker that joins works only below directories that its own command line names: "
          "cluster-iobench worker --join ",
          ShellWord(line.join),
          " --root DIR, with the directory that the run tests, or --root none if it tests no files"));
    }
    rights.actions.clear();
    rights.may_compare_existing_files = false;
    rights.coordinator_host = address.host.empty() ? "localhost" : address.host;
  }
  if (line.roots == std::vector<std::string>{kNoRoot})
    roots = path.empty() ? std::vector<std::string>() : std::vector<std::string>{path};
  if (!roots.empty() || !line.roots.empty() || line.sampler) {
    IOBENCH_ASSIGN_OR_RETURN(rights.paths, AllowedPaths::Below(roots));
  }
  // The paths of a client list are checked together with all other clients' paths, when all have joined.
  if (line.client_list_position == 0 && !line.roots.empty() && line.roots.front() != kNoRoot) {
    IOBENCH_ASSIGN_OR_RETURN(const AllowedPaths typed, AllowedPaths::Below(line.roots));
    IOBENCH_RETURN_IF_ERROR(typed.CheckRootsExist());
  }
  if (!line.allow.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(rights.actions, WorkerActionsFrom(line.allow));
    rights.remounts_for_cold = rights.actions.contains(WorkerAction::kRemount);
  }
  if (line.max_lanes > 0) rights.max_lanes = line.max_lanes;
  if (!line.max_memory.empty()) {
    const absl::StatusOr<uint64_t> bytes = ParseBytes(line.max_memory, 1);
    if (!bytes.ok() || *bytes == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--max-memory \"", line.max_memory, "\" is not a size such as 512m or 4g"));
    }
    rights.max_memory_bytes = *bytes;
  }
  return rights;
}

}  // namespace

absl::StatusOr<JoinCredentials> TokenOnInput(const JoinCommand& line) {
  // Less than the coordinator waits, so that it hears why.
  constexpr double kLongest_s = 30;
  return ReadTokenInput(std::min(line.join_timeout_s / 2, kLongest_s), StopWorker());
}

int ExitWithoutToken(const absl::Status& why) {
  return Fail(why, absl::IsCancelled(why) ? kExitInterrupted : kExitUsage);
}

int RunWorker(const JoinCommand& line) {
  if (line.spawned) signal(SIGINT, SIG_IGN);
  const std::string path = line.path.empty() ? "" : DirectoryToWorkIn(line.path);
  absl::StatusOr<WorkerRights> rights = RightsFrom(line, path);
  if (!rights.ok()) return Fail(rights.status(), kExitUsage);
  // -Q, as IOzone's, writes its files to the directory in which the worker was started. The worker does not stay there,
  // which would prevent the file system from being unmounted.
  std::error_code removed;
  rights->log_directory = std::filesystem::current_path(removed).string();
  SetWorkerRights(*std::move(rights));
  if (line.client_list_position > 0 && !removed && chdir("/") != 0)
    return Fail(ErrnoStatus("chdir /", errno), kExitUsage);
  GrpcWorkerOptions options;
  options.insecure = line.insecure;
  options.tls = {line.tls_cert, line.tls_key, line.tls_ca, line.tls_crl};
  if (line.token_file == "-") {
    auto credentials = TokenOnInput(line);
    if (!credentials.ok()) return ExitWithoutToken(credentials.status());
    options.credentials = [read = *std::move(credentials)] { return read; };
  } else if (!line.token_file.empty()) {
    options.credentials = CredentialsIn(line.token_file, line.token_group);
    if (const absl::Status usable = CheckTokenFile(options.credentials, line); !usable.ok()) return Fail(usable, kExitUsage);
  }
  options.join_timeout_s = line.join_timeout_s;
  options.stop = &StopWorker();
  // The coordinator reports whether spawned workers join; it reads what others print from their remote shells.
  if (!line.spawned) options.on_waiting = SayOnce(line);
  if (line.stay) return Stay(line, path, std::move(options));
  // Without a janitor, a killed worker leaves its data behind; a spawned one is killed with its coordinator. One that
  // stays has no janitor: its service manager would kill that too, and it may have the threads of an earlier run.
  const bool has_data = !line.sampler && line.simulate == 0;
  const std::unique_ptr<Janitor> janitor = has_data ? Janitor::Start() : nullptr;
  // Longer than a start takes on an overloaded client: a join that hangs for good is not urgent.
  constexpr double kBeyondTimeoutS = 20;
  EndAfter(line.join_timeout_s + kBeyondTimeoutS,
           "cluster-iobench: the join makes no progress although its time is over: are memory or threads limited here "
           "(ulimit -a)?\n",
           kExitPartial);
  options.on_joined = CancelEnd;
  const absl::Status status = ServeOneRun(line, path, options, janitor.get());
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  // The coordinator reports what happened, unless it cannot know.
  if (line.spawned && !absl::IsResourceExhausted(status)) return kExitPartial;
  return Fail(status, absl::IsUnavailable(status) ? kExitPartial : kExitUsage);
}

}  // namespace iobench

#include "coordinator/worker_command.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/transport/grpc/grpc_transport.h"
#include "coordinator/run/failure.h"
#include "coordinator/signals.h"
#include "worker/client/client_probe.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

// With several workers in one process, only the first prints messages.
std::function<void(double, const std::string&)> SayOnce(const CommandLine& line) {
  return [&line, said_s = -1.0](double waited_s, const std::string& why) mutable {
    if (said_s >= 0 && waited_s - said_s < 10) return;
    said_s = waited_s;
    PrintError(absl::StrCat("waiting for a coordinator at ", line.join, " (for up to ",
                            FormatSeconds(line.cluster.join_timeout_s), ")", why.empty() ? "" : ": ", why));
  };
}

}  // namespace

int RunWorker(const CommandLine& line) {
  if (line.spawned) signal(SIGINT, SIG_IGN);
  const std::string path = line.worker_path.empty() ? "" : DirectoryToWorkIn(line.worker_path);
  // The worker was started in its directory, which would prevent the file system from being unmounted.
  if (line.client_list_position > 0 && chdir("/") != 0)
    return Fail(ErrnoStatus("chdir /", errno), kExitUsage);
  std::vector<std::unique_ptr<WorkerHandler>> workers;
  std::vector<WorkerHandler*> handlers;
  for (uint32_t i = 0; i < line.simulate; ++i) {
    WorkerOptions identity;
    identity.client_list_position = line.client_list_position;
    identity.path = path;
    workers.push_back(MakeWorkerService(identity));
    handlers.push_back(workers.back().get());
  }
  GrpcWorkerOptions options;
  options.join_timeout_s = line.cluster.join_timeout_s;
  options.stop = &StopWorker();
  // The coordinator reports whether spawned workers join; what others print it reads from their remote shells.
  if (!line.spawned) options.on_waiting = SayOnce(line);
  const absl::Status status = RunGrpcWorkers(line.join, handlers, options);
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  if (line.spawned) return kExitPartial;  // the coordinator reports what happened
  return Fail(status, absl::IsUnavailable(status) ? kExitPartial : kExitUsage);
}

}  // namespace iobench

#include "coordinator/transports.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/inprocess_transport.h"
#ifdef IOBENCH_HAS_MPI
#include "common/transport/mpi/mpi_transport.h"
#endif
#include "coordinator/launch/launcher.h"
#include "coordinator/launch/spawner.h"
#include "coordinator/option/transport_names.h"
#include "coordinator/run/failure.h"
#include "coordinator/run/run_command.h"
#include "coordinator/signals.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

// Runs the command once there are workers.
int Carry(const Stage& stage, const Job& job) {
  if (job.line.cluster.net_test) return NetTest(stage, job.line);
  return job.line.command == Command::kSelftest ? Selftest(stage, job.line)
                                                : RunPlan(stage, job.line, job.plan);
}

Stage StageOn(Transport& transport, uint32_t worker_count, const Job& job, JoinWatch join_watch = {}) {
  WorkerOptions identity;
  identity.measure_costs = false;
  return {.transport = transport,
          .worker_count = worker_count,
          .interrupt = TheInterrupt(),
          .coordinator = MakeWorkerService(identity)->Facts(),
          .command = job.command,
          .join_watch = std::move(join_watch)};
}

int RunLocal(const Job& job) {
  const CommandLine& line = job.line;
  if (line.cluster.net_test) {
    return Fail(absl::InvalidArgumentError(
                    "-+t (--net-test) tests the network between workers and this process: use -+m, "
                    "--listen, --spawn or mpirun"),
                kExitUsage);
  }
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions());
  WorkerHandler* const workers[] = {worker.get()};
  InProcessTransport transport(workers);
  return Carry(StageOn(transport, 1, job), job);
}

absl::StatusOr<std::unique_ptr<GrpcCoordinator>> ListenFor(std::span<const ClientEntry> clients,
                                                           const ClusterOptions& place) {
  const std::string address = place.listen.empty() ? ListenAddressFor(clients) : place.listen;
  auto transport = GrpcCoordinator::Listen(address, {.insecure = place.insecure});
  if (absl::IsFailedPrecondition(transport.status())) {
    return Annotate(transport.status(), "workers that -+m (--client-list) starts join over the network");
  }
  return transport;
}

// Starts workers with a remote shell on the clients of a list.
int RunOnClients(const Job& job) {
  const CommandLine& line = job.line;
  auto transport = ListenFor(job.clients, line.cluster);
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  const auto address = AddressForClients((*transport)->bound_address(), line.cluster.coordinator_host);
  if (!address.ok()) return Fail(address.status(), kExitUsage);
  LaunchOptions options{.join_address = *address, .own_paths = !SaysWhere(line.given)};
  if (const char* remote_shell = getenv("RSH"); remote_shell != nullptr && *remote_shell != '\0') {
    options.remote_shell = remote_shell;
  }
  options.join_timeout_s = std::min(options.join_timeout_s, line.cluster.join_timeout_s);
  auto launcher = Launcher::Start(job.clients, options);
  if (!launcher.ok()) return Fail(launcher.status(), kExitUsage);
  const JoinWatch watch{
      .check = [&launcher] { return launcher->Check(); },
      .missing =
          [&launcher](const std::vector<v1::WorkerFacts>& joined) { return launcher->Missing(joined); }};
  const int exit_code =
      Carry(StageOn(**transport, static_cast<uint32_t>(job.clients.size()), job, watch), job);
  transport->reset();  // disconnect first, so that the workers end on their own
  return exit_code;
}

int RunGrpc(const Job& job) {
  const CommandLine& line = job.line;
  if (!job.clients.empty()) return RunOnClients(job);
  std::string address = line.cluster.listen;
  std::unique_ptr<SocketDirectory> socket;
  const uint32_t processes = line.cluster.spawn > 0 ? line.cluster.spawn : (line.simulate > 1 ? 1 : 0);
  if (processes > 0) {
    auto made = SocketDirectory::Make();
    if (!made.ok()) return Fail(made.status(), kExitUsage);
    socket = std::make_unique<SocketDirectory>(*std::move(made));
    address = socket->address();
  }
  auto transport = GrpcCoordinator::Listen(address, {.insecure = line.cluster.insecure});
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  const uint32_t worker_count =
      line.cluster.spawn > 0 ? line.cluster.spawn : std::max(line.cluster.workers, line.simulate);
  std::unique_ptr<Spawner> spawner;
  JoinWatch watch;
  if (processes > 0) {
    auto started = Spawner::Start(processes, {"worker", "--spawned", "--join", address, "--simulate",
                                              absl::StrCat(line.cluster.spawn > 0 ? 1 : line.simulate)});
    if (!started.ok()) return Fail(started.status(), kExitUsage);
    spawner = std::make_unique<Spawner>(*std::move(started));
    watch.check = [&spawner] { return spawner->Check(); };
  } else {
    const std::string& bound = (*transport)->bound_address();
    const auto reached = AddressForClients(bound, "");
    const std::string join = absl::StrCat("cluster-iobench worker --join ", reached.ok() ? *reached : bound);
    std::cerr << "waiting for " << worker_count << (worker_count == 1 ? " worker" : " workers") << ": "
              << join << std::endl;
    watch.missing = [join, worker_count](const std::vector<v1::WorkerFacts>& joined) {
      return absl::StrCat(worker_count - joined.size(), ", to be started on their hosts with `", join, "`");
    };
  }
  const int exit_code = Carry(StageOn(**transport, worker_count, job, watch), job);
  transport->reset();  // disconnect first, so that the workers end on their own
  return exit_code;
}

int RunMpi(const Job& job) {
#ifdef IOBENCH_HAS_MPI
  if (!LauncherPromises().launched) {
    return Fail(
        absl::FailedPreconditionError(
            "--transport mpi: no MPI launcher started this process; use `mpirun -np N cluster-iobench …`"),
        kExitUsage);
  }
  auto session = MpiSession::Start();
  if (!session.ok()) return Fail(session.status(), kExitUsage);
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions());
  if ((*session)->rank() != 0) {
    IgnoreSignals();  // rank 0 also gets the signal, saves the measurements and then ends this rank
    const absl::Status status = (*session)->RunWorker(*worker);
    return status.ok() || absl::IsFailedPrecondition(status) ? kExitOk : Fail(status, kExitPartial);
  }
  const std::unique_ptr<Transport> transport = (*session)->Coordinator(*worker);
  return Carry(StageOn(*transport, static_cast<uint32_t>((*session)->size()), job), job);
#else
  static_cast<void>(job);
  if (LauncherPromises().promised_rank > 0) return kExitUsage;
  return Fail(absl::FailedPreconditionError(
                  "this build has no MPI: build with -DIOBENCH_MPI=ON, or use --spawn or --listen"),
              kExitUsage);
#endif
}

uint32_t OneWorker(const CommandLine&, const MpiLaunch&) {
  return 1;
}
uint32_t RanksPromised(const CommandLine&, const MpiLaunch& launch) {
  return static_cast<uint32_t>(std::max(0, launch.promised_ranks));
}
uint32_t WorkersAskedFor(const CommandLine& line, const MpiLaunch&) {
  if (!line.cluster.client_list.empty()) return 1;  // with as many lanes as the list has lines
  return line.cluster.spawn > 0 ? line.cluster.spawn : line.cluster.workers;
}

constexpr TransportSpec kTransports[] = {
    {"local", RunLocal, OneWorker},
    {"grpc", RunGrpc, WorkersAskedFor},
    {"mpi", RunMpi, RanksPromised},
};

constexpr bool HasRow(std::string_view name) {
  for (const TransportSpec& spec : kTransports) {
    if (name == spec.name) return true;
  }
  return false;
}

constexpr bool EveryNameHasARow() {
  for (const std::string_view name : kTransportNames) {
    if (!HasRow(name)) return false;
  }
  return std::size(kTransportNames) == std::size(kTransports);
}
static_assert(EveryNameHasARow(), "list the transport in coordinator/option/transport_names.h too");

// The one that `auto` selects.
const char* FittingTransport(const CommandLine& line, const MpiLaunch& launch) {
  if (!line.cluster.client_list.empty()) return "grpc";
  if (line.cluster.spawn > 0 || !line.cluster.listen.empty()) return "grpc";
  if (line.command == Command::kSelftest && line.simulate > 1) return "grpc";
  return launch.launched ? "mpi" : "local";
}

}  // namespace

const TransportSpec& ChosenTransport(const CommandLine& line, const MpiLaunch& launch) {
  const std::string& asked = line.cluster.transport;
  const std::string name = asked == "auto" ? FittingTransport(line, launch) : asked;
  const auto found = std::find_if(std::begin(kTransports), std::end(kTransports),
                                  [&name](const TransportSpec& spec) { return name == spec.name; });
  assert(found != std::end(kTransports));
  return *found;
}

// True if the options say which directories are tested; otherwise each client of a list tests its own.
bool SaysWhere(const GivenOptions& given) {
  return given.Has("path") || given.Has("file") || given.Has("files");
}

// Otherwise each of a launcher's ranks would start, or wait for, all workers.
absl::Status CheckNoRanks(const CommandLine& line, const MpiLaunch& launch) {
  if (!launch.launched || launch.promised_ranks == 1) return absl::OkStatus();
  const char* const option = line.cluster.spawn > 0              ? "--spawn"
                             : !line.cluster.client_list.empty() ? "-+m (--client-list)"
                             : !line.cluster.listen.empty()      ? "--listen"
                             : line.cluster.transport == "local" ? "--transport local"
                                                                 : nullptr;
  if (option == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " under ", launch.launcher, ": each of its ",
      launch.promised_ranks > 0 ? absl::StrCat(launch.promised_ranks, " ") : "",
      "ranks would be a separate coordinator, all on the same files. The ranks already are workers, and -t sets the "
      "number of lanes of each: omit ",
      option, ", or start the program without ", launch.launcher));
}

}  // namespace iobench

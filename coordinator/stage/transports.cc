#include "coordinator/stage/transports.h"

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
#include "common/model/engine.h"
#include "common/open_file_limit.h"
#include "common/process/last_resort.h"
#include "common/process/thread_limit.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/transport/grpc/doorkeeper.h"
#include "common/transport/grpc/grpc_transport.h"
#include "common/transport/inprocess_transport.h"
#ifdef IOBENCH_HAS_MPI
#include "common/transport/mpi/mpi_transport.h"
#endif
#include "coordinator/files/file_patience.h"
#include "coordinator/stage/join_setup.h"
#include "coordinator/launch/launcher.h"
#include "coordinator/launch/spawner.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/options/transport_names.h"
#include "coordinator/process/failure.h"
#include "coordinator/stage/run_on_hosts.h"
#include "coordinator/process/signals.h"
#include "coordinator/stage/simulation.h"
#include "worker/janitor.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

int RunLocal(const Job& job) {
  if (job.options.cluster.net_test) {
    return Fail(absl::InvalidArgumentError(
                    "-+t (--net-test) tests the network between workers and this process: use -+m, "
                    "--listen, --spawn or mpirun"),
                kExitUsage);
  }
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions());
  WorkerHandler* const workers[] = {worker.get()};
  InProcessTransport transport(workers);
  return CarryOut(job, transport, 1);
}

uint32_t WorkersOfGrpc(const Job& job) {
  const ClusterOptions& place = job.options.cluster;
  if (!job.hosts.empty()) return WorkersOn(job.hosts);
  if (!job.clients.empty()) return static_cast<uint32_t>(job.clients.size());
  return place.spawn > 0 ? place.spawn : std::max(place.workers, job.simulate);
}

// Who connects to this process, and what starts them.
struct GrpcPeers {
  uint32_t workers = 0;  // of clients
  uint32_t samplers = 0;
  uint32_t server_workers = 0;
  uint64_t remote_shells = 0;

  uint64_t connections() const { return uint64_t{workers} + samplers + server_workers; }
};

GrpcPeers PeersOfGrpc(const Job& job) {
  GrpcPeers peers;
  peers.workers = WorkersOfGrpc(job);
  if (!job.hosts.empty() || !job.clients.empty()) {
    peers.samplers = static_cast<uint32_t>(job.sampler_hosts.size());
    peers.server_workers = WorkersOn(job.sampler_hosts) - peers.samplers;
    peers.remote_shells = (job.hosts.empty() ? job.clients.size() : job.hosts.size()) + peers.samplers;
    return peers;
  }
  peers.samplers = job.options.cluster.samplers;
  if (peers.samplers > 0 && !job.plan.server_path().empty()) {
    peers.server_workers = peers.samplers * WorkersOfEachServer(peers.workers, peers.samplers);
  }
  return peers;
}

// Without a descriptor for its connection, gRPC would leave a worker waiting silently. The output of each remote shell
// is a memory file.
absl::Status CheckDescriptors(const GrpcPeers& peers) {
  constexpr uint64_t kOwn = 32;  // of this program, gRPC and the results
  const uint64_t connections = peers.connections(), allowed = OpenFileLimit();
  const uint64_t needed = kDescriptorsPerConnection * connections + peers.remote_shells + kReservedDescriptors + kOwn;
  if (needed <= allowed) return absl::OkStatus();
  const char* const who = connections == 1     ? " worker needs "
                          : peers.samplers > 0 ? " workers and samplers need "
                                               : " workers need ";
  return absl::ResourceExhaustedError(
      absl::StrCat(connections, who, needed, " open files in this process, but its limit is ", allowed,
                   ": raise it with `ulimit -n` (or LimitNOFILE= of systemd), or use fewer workers"));
}

// Workers that cannot start all of their threads would fail one by one, or wait for what gRPC's would have done.
absl::Status CheckThreadsHere(const Job& job, const GrpcPeers& peers) {
  constexpr uint64_t kOwn = 7;  // doorkeeper, relay, heartbeat, token file, reports, --live and hooks
  const uint32_t processes = job.options.cluster.spawn;
  const uint64_t of_worker = ThreadsOfWorker(LanesPerWorker(job));
  return CheckThreads(ThreadLimitOfThisProcess(),
                      kOwn + GrpcThreadCount() + peers.remote_shells + processes * of_worker,
                      processes == 0   ? "the coordinator"
                      : processes == 1 ? "the coordinator with 1 worker"
                                       : absl::StrCat("the coordinator with ", processes, " workers on this host"),
                      processes > 0 ? absl::StrCat("use fewer workers (about ", of_worker, " each)") : "");
}

int RunGrpc(const Job& job) {
  const ClusterOptions& place = job.options.cluster;
  const GrpcPeers peers = PeersOfGrpc(job);
  const uint32_t worker_count = peers.workers;
  absl::Status enough = CheckDescriptors(peers);
  enough.Update(CheckThreadsHere(job, peers));
  if (!enough.ok()) return Fail(enough, kExitUsage);
  if (job.simulate > 0) return RunSimulation(job);
  if (!job.clients.empty() || !job.hosts.empty()) return RunOnHosts(job);
  std::string address = place.listen;
  std::unique_ptr<SocketDirectory> socket;
  const uint32_t processes = place.spawn;
  if (processes > 0) {
    auto made = SocketDirectory::Make();
    if (!made.ok()) return Fail(made.status(), kExitUsage);
    socket = std::make_unique<SocketDirectory>(*std::move(made));
    address = socket->address();
  }
  const auto setup = PrepareSecurity(address, place);
  if (!setup.ok()) return Fail(setup.status(), kExitUsage);
  const JoinSecurity& security = setup->security;
  JoinWatch watch;
  watch.samplers = peers.samplers;
  watch.server_workers = peers.server_workers;
  const bool measures_servers = watch.server_workers > 0;
  const uint32_t of_each_server = measures_servers ? watch.server_workers / watch.samplers : 0;
  constexpr double kListenTakesS = 60;
  EndAfter(kListenTakesS,
           "cluster-iobench: gRPC does not start: are memory or threads limited here (ulimit -a)?\n", kExitUsage);
  auto transport =
      GrpcCoordinator::Listen(address, ListenOptionsFor(*setup, static_cast<uint32_t>(peers.connections()),
                                                        LanesPerWorker(job)));
  CancelEnd();
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  std::unique_ptr<Spawner> spawner;
  if (processes > 0) {
    auto started = Spawner::Start(processes, {"worker", "--spawned", "--join", address});
    if (!started.ok()) return Fail(started.status(), kExitUsage);
    spawner = std::make_unique<Spawner>(*std::move(started));
    watch.check = [&spawner] { return spawner->Check(); };
    watch.started_here = [](const v1::WorkerFacts&) { return true; };  // others cannot reach the socket
    watch.ending = [&spawner](const v1::WorkerFacts& worker) {
      return spawner->EndingOf(static_cast<pid_t>(worker.pid()));
    };
  } else {
    const std::string& bound = (*transport)->bound_address();
    const auto reached = AddressForClients(bound, "");
    const std::string program =
        absl::StrCat("cluster-iobench worker --join ", ShellWord(reached.ok() ? *reached : bound),
                     WorkerWords(security, place));
    const std::string join =
        absl::StrCat(program, NeedsOfWorkers(job.plan, TargetRoots::kOfPlan).Arguments());
    const std::string sampler =
        measures_servers ? absl::StrCat(program, " --sampler", ServerArguments(job.plan, of_each_server))
                         : join + " --sampler";
    if (security.insecure) std::cerr << kInsecureWarning << std::endl;
    std::cerr << "waiting for " << worker_count << (worker_count == 1 ? " worker" : " workers") << ": "
              << join << std::endl;
    if (place.samplers > 0) {
      std::cerr << "and for " << place.samplers
                << (place.samplers == 1 ? " sampler, on a server" : " samplers, on servers") << ": "
                << (measures_servers ? sampler : "the same command with --sampler") << std::endl;
    }
    watch.missing = [join, sampler, worker_count](const std::vector<v1::WorkerFacts>& joined) {
      if (joined.size() >= worker_count) return absl::StrCat("samplers: `", sampler, "` on each server");
      return absl::StrCat(worker_count - joined.size(), ", to be started on their hosts with `", join, "`");
    };
  }
  const int exit_code = CarryOutConnected(job, **transport, worker_count, watch);
  transport->reset();  // disconnect first, so that the workers end on their own
  if (spawner != nullptr && TheInterrupt().raised()) spawner->Hurry();
  return exit_code;
}

#ifdef IOBENCH_HAS_MPI
// By what all ranks know: only the first one reads plans.
MpiSession::LanesUse LanesUseOf(const JobOptions& options) {
  using Use = MpiSession::LanesUse;
  const auto engine = FindEngine(options.given.Text("engine"));
  if (engine.ok() && (*engine)->Can(EngineFeature::kMpiIo)) return Use::kFiles;
  return options.given.Has("plan") || !options.cluster.resume.empty() ? Use::kPerhapsFiles : Use::kNothing;
}
#endif

int RunMpi(const Job& job) {
#ifdef IOBENCH_HAS_MPI
  if (!LauncherPromises().launched) {
    return Fail(
        absl::FailedPreconditionError(
            "--transport mpi: no MPI launcher started this process; use `mpirun -np N cluster-iobench …`"),
        kExitUsage);
  }
  // Started before MPI has threads.
  const std::unique_ptr<Janitor> janitor = Janitor::Start();
  auto session = MpiSession::Start(LanesUseOf(job.options));
  if (!session.ok()) return Fail(session.status(), kExitUsage);
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions(), janitor.get());
  if ((*session)->rank() != 0) {
    IgnoreSignals();  // rank 0 also gets the signal, saves the measurements and then ends this rank
    const absl::Status status = (*session)->RunWorker(*worker);
    if (absl::IsUnavailable(status)) (*session)->Abort(Fail(status, kExitPartial));
    return status.ok() || absl::IsFailedPrecondition(status) ? kExitOk : Fail(status, kExitPartial);
  }
  if (janitor != nullptr) janitor->LeaveDataToOthers();
  FilePatience().after_interrupt_ns = kNanosPerSecond / 5;  // mpirun kills one second after its Ctrl-C
  std::unique_ptr<Transport> transport = (*session)->Coordinator(*worker);
  const int exit_code = CarryOut(job, *transport, static_cast<uint32_t>((*session)->size()));
  transport.reset();
  if ((*session)->CanEnd()) return exit_code;
  // The results are saved. MPI ends the job in the only way that does not wait for the missing rank.
  std::cout.flush();
  (*session)->Abort(exit_code == kExitOk ? kExitPartial : exit_code);
#else
  static_cast<void>(job);
  if (LauncherPromises().promised_rank > 0) return kExitUsage;
  return Fail(absl::FailedPreconditionError(
                  "this build has no MPI: build with -DIOBENCH_MPI=ON, or use --spawn or --listen"),
              kExitUsage);
#endif
}

uint32_t OneWorker(const ClusterOptions&, const MpiLaunch&) {
  return 1;
}
uint32_t RanksPromised(const ClusterOptions&, const MpiLaunch& launch) {
  return static_cast<uint32_t>(std::max(0, launch.promised_ranks));
}
uint32_t WorkersAskedFor(const ClusterOptions& place, const MpiLaunch&) {
  if (!place.client_list.empty()) return 1;  // with as many lanes as the list has lines
  return place.spawn > 0 ? place.spawn : place.workers;
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
static_assert(EveryNameHasARow(), "list the transport in coordinator/options/transport_names.h too");

// The one that `auto` selects.
const char* FittingTransport(const ClusterOptions& place, bool simulated, const MpiLaunch& launch) {
  if (!place.client_list.empty() || !place.hosts.empty()) return "grpc";
  if (place.spawn > 0 || !place.listen.empty()) return "grpc";
  if (simulated) return "grpc";
  return launch.launched ? "mpi" : "local";
}

}  // namespace

const TransportSpec& ChosenTransport(const ClusterOptions& place, bool simulated, const MpiLaunch& launch) {
  const std::string& asked = place.transport;
  const std::string name = asked == "auto" ? FittingTransport(place, simulated, launch) : asked;
  const auto found = std::find_if(std::begin(kTransports), std::end(kTransports),
                                  [&name](const TransportSpec& spec) { return name == spec.name; });
  assert(found != std::end(kTransports));
  return *found;
}

// Otherwise each of a launcher's ranks would start, or wait for, all workers.
absl::Status CheckNoRanks(const ClusterOptions& place, const MpiLaunch& launch) {
  if (!launch.launched || launch.promised_ranks == 1) return absl::OkStatus();
  const char* const option = place.spawn > 0              ? "--spawn"
                             : !place.hosts.empty()       ? "--hosts"
                             : !place.client_list.empty() ? "-+m (--client-list)"
                             : !place.listen.empty()      ? "--listen"
                             : place.transport == "local" ? "--transport local"
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

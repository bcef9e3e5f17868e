// The program. The only place that joins coordinator and worker: it decides where the workers are, sets the transport
// up and hands over to a command.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/open_file_limit.h"
#include "common/status_util.h"
#include "common/transport/grpc_transport.h"
#include "common/transport/inprocess_transport.h"
#include "common/transport/mpi_launch.h"
#include "common/units.h"
#ifdef IOBENCH_HAS_MPI
#include "common/transport/mpi_transport.h"
#endif
#include "coordinator/cli.h"
#include "coordinator/client_list.h"
#include "coordinator/conductor.h"
#include "coordinator/interrupt.h"
#include "coordinator/launcher.h"
#include "coordinator/phase_list.h"
#include "coordinator/plan_builder.h"
#include "coordinator/plan_check.h"
#include "coordinator/plan_yaml.h"
#include "coordinator/run_command.h"
#include "coordinator/spawner.h"
#include "coordinator/target_check.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "worker/client_probe.h"
#include "worker/data_directory.h"
#include "worker/worker_service.h"

namespace iobench {
namespace {

Interrupt interrupt;
std::atomic<bool> stop_worker{false};

// The first signal asks for an orderly end; the second one takes no more time.
extern "C" void OnSignal(int) {
  if (interrupt.raised()) _exit(kExitInterrupted);
  interrupt.Raise();
  stop_worker.store(true, std::memory_order_relaxed);
}

void HandleSignals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Under nohup it stays ignored.
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

int Fail(const absl::Status& status, int exit_code) {
  PrintError(std::string(status.message()));
  return exit_code;
}

// What the command does once there are workers.
int Carry(const Stage& stage, const CommandLine& line, const v1::Plan& plan) {
  if (line.place.net_test) return NetTest(stage, line);
  return line.command == Command::kSelftest ? Selftest(stage, line) : RunPlan(stage, line, plan);
}

Stage StageOn(Transport& transport, uint32_t worker_count, const std::string& command,
              JoinWatch join_watch = {}) {
  WorkerOptions identity;
  identity.measure_costs = false;
  return {.transport = transport,
          .worker_count = worker_count,
          .interrupt = interrupt,
          .coordinator = MakeWorkerService(identity)->Facts(),
          .command = command,
          .join_watch = std::move(join_watch)};
}

int RunLocal(const CommandLine& line, const v1::Plan& plan, const std::string& command) {
  if (line.place.net_test) {
    return Fail(
        absl::InvalidArgumentError("-+t (--net-test) tests the way between workers and this process: give "
                                   "-+m, --listen or --spawn, or use mpirun"),
        kExitUsage);
  }
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions());
  WorkerHandler* const workers[] = {worker.get()};
  InProcessTransport transport(workers);
  return Carry(StageOn(transport, 1, command), line, plan);
}

// Where the options say which directories are tested; else each client of a list tests its own.
bool SaysWhere(const GivenOptions& given) {
  return given.Has("path") || given.Has("file") || given.Has("files");
}

absl::StatusOr<std::unique_ptr<GrpcCoordinator>> ListenFor(std::span<const ClientEntry> clients,
                                                           const PlaceOptions& place) {
  const std::string address = place.listen.empty() ? ListenAddressFor(clients) : place.listen;
  auto transport = GrpcCoordinator::Listen(address, {.insecure = place.insecure});
  if (absl::IsFailedPrecondition(transport.status())) {
    return Annotate(transport.status(), "workers that -+m (--client-list) starts join over the network");
  }
  return transport;
}

// Workers that a remote shell starts on the clients of a list.
int RunOnClients(const CommandLine& line, std::span<const ClientEntry> clients, const v1::Plan& plan,
                 const std::string& command) {
  auto transport = ListenFor(clients, line.place);
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  const auto address = AddressForClients((*transport)->bound_address(), line.place.coordinator_host);
  if (!address.ok()) return Fail(address.status(), kExitUsage);
  LaunchOptions options{.join_address = *address, .own_paths = !SaysWhere(line.given)};
  if (const char* remote_shell = getenv("RSH"); remote_shell != nullptr && *remote_shell != '\0') {
    options.remote_shell = remote_shell;
  }
  options.join_timeout_s = std::min(options.join_timeout_s, line.place.join_timeout_s);
  auto launcher = Launcher::Start(clients, options);
  if (!launcher.ok()) return Fail(launcher.status(), kExitUsage);
  const JoinWatch watch{
      .check = [&launcher] { return launcher->Check(); },
      .missing = [&launcher](const std::vector<v1::WorkerFacts>& joined) { return launcher->Missing(joined); }};
  const int exit_code =
      Carry(StageOn(**transport, static_cast<uint32_t>(clients.size()), command, watch), line, plan);
  transport->reset();  // hang up first, so that the workers end by themselves
  return exit_code;
}

int RunGrpc(const CommandLine& line, const v1::Plan& plan, const std::string& command) {
  std::string address = line.place.listen;
  std::unique_ptr<SocketDirectory> socket;
  const uint32_t processes = line.place.spawn > 0 ? line.place.spawn : (line.simulate > 1 ? 1 : 0);
  if (processes > 0) {
    auto made = SocketDirectory::Make();
    if (!made.ok()) return Fail(made.status(), kExitUsage);
    socket = std::make_unique<SocketDirectory>(*std::move(made));
    address = socket->address();
  }
  auto transport = GrpcCoordinator::Listen(address, {.insecure = line.place.insecure});
  if (!transport.ok()) return Fail(transport.status(), kExitUsage);
  const uint32_t worker_count =
      line.place.spawn > 0 ? line.place.spawn : std::max(line.place.workers, line.simulate);
  std::unique_ptr<Spawner> spawner;
  JoinWatch watch;
  if (processes > 0) {
    auto started = Spawner::Start(processes, {"worker", "--spawned", "--join", address, "--simulate",
                                              absl::StrCat(line.place.spawn > 0 ? 1 : line.simulate)});
    if (!started.ok()) return Fail(started.status(), kExitUsage);
    spawner = std::make_unique<Spawner>(*std::move(started));
    watch.check = [&spawner] { return spawner->Check(); };
  } else {
    const std::string& bound = (*transport)->bound_address();
    const auto reached = AddressForClients(bound, "");
    const std::string join = absl::StrCat("cluster-iobench worker --join ", reached.ok() ? *reached : bound);
    std::cerr << "waiting for " << worker_count << (worker_count == 1 ? " worker" : " workers") << ": " << join
              << std::endl;
    watch.missing = [join, worker_count](const std::vector<v1::WorkerFacts>& joined) {
      return absl::StrCat(worker_count - joined.size(), ", to be started on their hosts by `", join, "`");
    };
  }
  const int exit_code = Carry(StageOn(**transport, worker_count, command, watch), line, plan);
  transport->reset();  // hang up first, so that the workers end by themselves
  return exit_code;
}

int RunMpi(const CommandLine& line, const v1::Plan& plan, const std::string& command) {
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
    HandleSignals(SIG_IGN);  // rank 0 gets the signal too, saves what is measured and then ends us
    const absl::Status status = (*session)->RunWorker(*worker);
    return status.ok() || absl::IsFailedPrecondition(status) ? kExitOk : Fail(status, kExitPartial);
  }
  const std::unique_ptr<Transport> transport = (*session)->Coordinator(*worker);
  return Carry(StageOn(*transport, static_cast<uint32_t>((*session)->size()), command), line, plan);
#else
  (void)line, (void)plan, (void)command;
  if (LauncherPromises().promised_rank > 0) return kExitUsage;
  return Fail(absl::FailedPreconditionError(
                  "this build has no MPI: build with -DIOBENCH_MPI=ON, or use --spawn or --listen"),
              kExitUsage);
#endif
}

// Of many workers in one process the first speaks for all.
std::function<void(double, const std::string&)> SayOnce(const CommandLine& line) {
  return [&line, said_s = -1.0](double waited_s, const std::string& why) mutable {
    if (said_s >= 0 && waited_s - said_s < 10) return;
    said_s = waited_s;
    PrintError(absl::StrCat("waiting for a coordinator at ", line.join, " (for ",
                            FormatSeconds(line.place.join_timeout_s), " in all)", why.empty() ? "" : ": ",
                            why));
  };
}

int RunWorker(const CommandLine& line) {
  if (line.spawned) signal(SIGINT, SIG_IGN);
  const std::string path = line.worker_path.empty() ? "" : DirectoryToWorkIn(line.worker_path);
  // Started in its directory; it must not keep the file system there from being unmounted.
  if (line.worker_place > 0 && chdir("/") != 0) return Fail(ErrnoStatus("chdir /", errno), kExitUsage);
  std::vector<std::unique_ptr<WorkerHandler>> workers;
  std::vector<WorkerHandler*> handlers;
  for (uint32_t i = 0; i < line.simulate; ++i) {
    WorkerOptions identity;
    identity.place = line.worker_place;
    identity.path = path;
    workers.push_back(MakeWorkerService(identity));
    handlers.push_back(workers.back().get());
  }
  GrpcWorkerOptions options;
  options.join_timeout_s = line.place.join_timeout_s;
  options.stop = &stop_worker;
  // Of spawned workers the coordinator says whether they join; what others say it reads from their remote shells.
  if (!line.spawned) options.on_waiting = SayOnce(line);
  const absl::Status status = RunGrpcWorkers(line.join, handlers, options);
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  if (line.spawned) return kExitPartial;  // the coordinator says what happened
  return Fail(status, absl::IsUnavailable(status) ? kExitPartial : kExitUsage);
}

int Clean(const std::string& directory, bool force) {
  const absl::StatusOr<CleanReport> cleaned = CleanDataDirectory(directory, force);
  if (!cleaned.ok()) return Fail(cleaned.status(), kExitUsage);
  if (!cleaned->why_not_ours.empty()) {
    for (const std::string& file : cleaned->foreign_files)
      std::cout << "left alone, not ours: " << file << std::endl;
    return Fail(absl::FailedPreconditionError(
                    absl::StrCat("nothing was removed below ", directory,
                                 ": without a manifest that can be read nothing there is known to be ours (",
                                 cleaned->why_not_ours, ")")),
                kExitUsage);
  }
  std::cout << "removed " << cleaned->removed_files << " files of ours below " << directory << std::endl;
  for (const std::string& file : cleaned->foreign_files)
    std::cout << "left alone, not ours: " << file << std::endl;
  if (cleaned->found && !cleaned->foreign_files.empty()) {
    std::cout << "the directory stays for what is not ours: move that away, then clean again" << std::endl;
  }
  return kExitOk;
}

// The transport that `auto` stands for.
std::string ChosenTransport(const CommandLine& line, const MpiLaunch& launch) {
  if (line.place.transport != "auto") return line.place.transport;
  if (!line.place.client_list.empty()) return "grpc";
  if (line.place.spawn > 0 || !line.place.listen.empty()) return "grpc";
  if (line.command == Command::kSelftest && line.simulate > 1) return "grpc";
  return launch.launched ? "mpi" : "local";
}

// Each of a launcher's ranks would start, or wait for, all the workers.
absl::Status CheckNoRanks(const CommandLine& line, const MpiLaunch& launch) {
  if (!launch.launched || launch.promised_ranks == 1) return absl::OkStatus();
  const char* const option = line.place.spawn > 0                  ? "--spawn"
                             : !line.place.client_list.empty()     ? "-+m (--client-list)"
                             : !line.place.listen.empty()          ? "--listen"
                             : line.place.transport == "local"     ? "--transport local"
                                                                   : nullptr;
  if (option == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " under ", launch.launcher, ": each of its ",
      launch.promised_ranks > 0 ? absl::StrCat(launch.promised_ranks, " ") : "",
      "ranks would be a coordinator of its own, all on the same files. Ranks are workers already, and -t says how many "
      "lanes each has: leave out ",
      option, ", or start the program without ", launch.launcher));
}

// 0: the launcher does not say.
uint32_t ExpectedWorkers(const CommandLine& line, const MpiLaunch& launch, const std::string& transport) {
  if (transport == "local") return 1;
  if (transport == "mpi") return static_cast<uint32_t>(std::max(0, launch.promised_ranks));
  if (!line.place.client_list.empty()) return 1;  // of as many lanes as the list has lines
  return line.place.spawn > 0 ? line.place.spawn : line.place.workers;
}

uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

absl::StatusOr<std::vector<ClientEntry>> ListedClients(const CommandLine& line) {
  if (line.place.client_list.empty()) return std::vector<ClientEntry>();
  auto clients = LoadClientList(line.place.client_list);
  if (!clients.ok() || !SaysWhere(line.given)) return clients;
  for (const ClientEntry& entry : *clients) {
    if (entry.path.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the client list ", line.place.client_list,
                     " says in its fourth fields what is tested, and --path, -f or -F say ",
                     "it, too: give one of the two"));
  }
  return clients;
}

// What a plan means on the clients of a list; those that take part stay in it. A plan of the user's own says how many
// lanes a worker has, and is done by all.
absl::Status FitToClients(const CommandLine& line, std::vector<ClientEntry>& clients, v1::Plan& plan) {
  const GivenOptions& given = line.given;
  const bool says_lanes = !given.Has("plan") && (!given.Has("suite") || given.Has("lanes"));
  if (says_lanes) {
    IOBENCH_ASSIGN_OR_RETURN(
        clients, FirstClients(std::move(clients), plan.lanes_per_worker(), line.place.client_list));
    LanesBecomeWorkers(plan.lanes_per_worker(), plan);
  }
  if (SaysWhere(given)) return absl::OkStatus();
  std::vector<std::string> paths;
  paths.reserve(clients.size());
  for (const ClientEntry& entry : clients) paths.push_back(entry.tested_path());
  const std::vector<v1::Target> targets = TargetsOf(paths);
  plan.mutable_targets()->Assign(targets.begin(), targets.end());
  return absl::OkStatus();
}

// So that no run writes what another has written. Under 2^48: every reader of JSON has it exactly.
uint64_t DrawSeed() {
  std::random_device random;
  return (uint64_t{random()} << 16 ^ random()) & ((uint64_t{1} << 48) - 1);
}

int RunOrSelftest(const CommandLine& line, const std::string& command) {
  const MpiLaunch launch = LauncherPromises();
  const std::string transport = ChosenTransport(line, launch);
  // Of MPI's ranks only the first one reads the plan and says what is wrong with it; mpirun ends the others then.
  const bool follows = transport == "mpi" && launch.promised_rank > 0;
  if (const absl::Status alone = CheckNoRanks(line, launch); !alone.ok()) {
    return launch.promised_rank <= 0 ? Fail(alone, kExitUsage) : int{kExitOk};
  }
  v1::Plan plan;
  if (follows && line.print_plan) return kExitOk;
  if (const absl::Status useful = CheckUsesOf(line.place, transport); !useful.ok() && !follows) {
    return Fail(useful, kExitUsage);
  }
  auto clients = ListedClients(line);
  if (!clients.ok()) return Fail(clients.status(), kExitUsage);
  if (line.command == Command::kRun && !follows) {
    const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
    const uint32_t usual_lanes = transport == "local" ? std::min(4u, processors) : 1;
    auto built = BuildPlan(
        line.given, {.default_lanes = clients->empty() ? usual_lanes : static_cast<uint32_t>(clients->size()),
                     .worker_count = ExpectedWorkers(line, launch, transport),
                     .client_list = !clients->empty(),
                     .memory_bytes = MemoryBytes(),
                     .drawn_seed = DrawSeed()});
    absl::Status status = built.status();
    if (status.ok()) {
      plan = *std::move(built);
      if (!clients->empty()) status = FitToClients(line, *clients, plan);
      status.Update(CheckPlan(plan));
      status.Update(CheckOutDirectory(line.place.out.empty() ? "." : line.place.out));
    }
    if (!status.ok()) return Fail(status, kExitUsage);
    if (line.print_plan) {
      std::cout << PlanToYaml(plan) << std::flush;
      return kExitOk;
    }
  }
  HandleSignals(OnSignal);
  if (transport == "mpi") return RunMpi(line, plan, command);
  if (!clients->empty()) return RunOnClients(line, *clients, plan, command);
  if (transport == "grpc") return RunGrpc(line, plan, command);
  return RunLocal(line, plan, command);
}

int Main(const std::vector<std::string>& arguments) {
  signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes (ulimit -f) is an error of the op that meets it
  RaiseOpenFileLimit();      // each lane has files open, each worker a connection
  signal(SIGPIPE, SIG_IGN);  // `cluster-iobench … | head` must not leave a run half done
  spdlog::set_default_logger(spdlog::stderr_color_mt("cluster-iobench"));
  spdlog::set_pattern("cluster-iobench: %l: %v");
  auto line = ParseCommandLine(arguments);
  // Of MPI's ranks the first one speaks. The others end well: a launcher ends all of them as soon as one fails.
  const bool speaks = LauncherPromises().promised_rank <= 0;
  if (!line.ok()) return speaks ? Fail(line.status(), kExitUsage) : int{kExitOk};
  switch (line->command) {
    case Command::kText:
    case Command::kUsage:
      if (speaks) std::cout << line->text << std::flush;
      return speaks && line->command == Command::kUsage ? kExitUsage : kExitOk;
    case Command::kReport:
      return PrintSavedRun(line->report_directory);
    case Command::kClean:
      return Clean(line->clean_directory, line->place.force);
    case Command::kWorker:
      HandleSignals(OnSignal);
      return RunWorker(*line);
    case Command::kRun:
    case Command::kSelftest:
      return RunOrSelftest(*line, absl::StrCat("cluster-iobench ", absl::StrJoin(arguments, " ")));
  }
  return kExitUsage;
}

}  // namespace
}  // namespace iobench

int main(int argc, char** argv) {
  const int exit_code = iobench::Main(std::vector<std::string>(argv + 1, argv + argc));
  // Whatever failed has said so, a run its own lost output too.
  return exit_code == iobench::kExitOk ? iobench::ExitOfPrinting(exit_code, iobench::kExitUsage) : exit_code;
}

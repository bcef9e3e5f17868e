// The program. The only place that joins coordinator and worker: it decides where the workers are, sets the transport
// up and hands over to a command.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/transport/grpc_transport.h"
#include "common/transport/inprocess_transport.h"
#include "common/transport/mpi_launch.h"
#ifdef IOBENCH_HAS_MPI
#include "common/transport/mpi_transport.h"
#endif
#include "coordinator/cli.h"
#include "coordinator/conductor.h"
#include "coordinator/interrupt.h"
#include "coordinator/plan_builder.h"
#include "coordinator/plan_check.h"
#include "coordinator/plan_yaml.h"
#include "coordinator/run_command.h"
#include "coordinator/spawner.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
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
}

int Fail(const absl::Status& status, int exit_code) {
  PrintError(std::string(status.message()));
  return exit_code;
}

// What the command does once there are workers.
int Carry(const Stage& stage, const CommandLine& line, const v1::Plan& plan) {
  return line.command == Command::kSelftest ? Selftest(stage, line) : RunPlan(stage, line, plan);
}

Stage StageOn(Transport& transport, uint32_t worker_count, const std::string& command) {
  WorkerOptions identity;
  identity.measure_costs = false;
  return {.transport = transport,
          .worker_count = worker_count,
          .interrupt = interrupt,
          .coordinator = MakeWorkerService(identity)->Facts(),
          .command = command};
}

int RunLocal(const CommandLine& line, const v1::Plan& plan, const std::string& command) {
  const std::unique_ptr<WorkerHandler> worker = MakeWorkerService(WorkerOptions());
  WorkerHandler* const workers[] = {worker.get()};
  InProcessTransport transport(workers);
  return Carry(StageOn(transport, 1, command), line, plan);
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
  if (processes > 0) {
    auto started = Spawner::Start(processes, {"worker", "--spawned", "--join", address, "--simulate",
                                              absl::StrCat(line.place.spawn > 0 ? 1 : line.simulate)});
    if (!started.ok()) return Fail(started.status(), kExitUsage);
    spawner = std::make_unique<Spawner>(*std::move(started));
  } else {
    std::cerr << "waiting for " << worker_count << (worker_count == 1 ? " worker" : " workers")
              << ": cluster-iobench worker --join " << (*transport)->bound_address() << std::endl;
  }
  const int exit_code = Carry(StageOn(**transport, worker_count, command), line, plan);
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

int RunWorker(const CommandLine& line) {
  if (line.spawned) signal(SIGINT, SIG_IGN);
  std::vector<std::unique_ptr<WorkerHandler>> workers;
  std::vector<WorkerHandler*> handlers;
  for (uint32_t i = 0; i < line.simulate; ++i) {
    workers.push_back(MakeWorkerService(WorkerOptions()));
    handlers.push_back(workers.back().get());
  }
  GrpcWorkerOptions options;
  options.join_timeout_s = line.place.join_timeout_s;
  options.stop = &stop_worker;
  const absl::Status status = RunGrpcWorkers(line.join, handlers, options);
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  if (line.spawned) return kExitPartial;  // the coordinator says what happened
  return Fail(status, absl::IsUnavailable(status) ? kExitPartial : kExitUsage);
}

int Clean(const std::string& directory) {
  const absl::StatusOr<CleanReport> cleaned = CleanDataDirectory(directory);
  if (!cleaned.ok()) return Fail(cleaned.status(), kExitUsage);
  std::cout << "removed " << cleaned->removed_files << " files of ours below " << directory << std::endl;
  for (const std::string& file : cleaned->foreign_files)
    std::cout << "left alone, not ours: " << file << std::endl;
  return kExitOk;
}

// The transport that `auto` stands for.
std::string ChosenTransport(const CommandLine& line, const MpiLaunch& launch) {
  if (line.place.transport != "auto") return line.place.transport;
  if (line.place.spawn > 0 || !line.place.listen.empty()) return "grpc";
  if (line.command == Command::kSelftest && line.simulate > 1) return "grpc";
  return launch.launched ? "mpi" : "local";
}

int RunOrSelftest(const CommandLine& line, const std::string& command) {
  const MpiLaunch launch = LauncherPromises();
  const std::string transport = ChosenTransport(line, launch);
  // Of MPI's ranks only the first one reads the plan and says what is wrong with it; mpirun ends the others then.
  const bool follows = transport == "mpi" && launch.promised_rank > 0;
  v1::Plan plan;
  if (follows && line.print_plan) return kExitOk;
  if (line.command == Command::kRun && !follows) {
    const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
    auto built = BuildPlan(line.work, transport == "local" ? std::min(4u, processors) : 1);
    absl::Status status = built.status();
    if (status.ok()) {
      plan = *std::move(built);
      status = CheckPlan(plan);
    }
    if (!status.ok()) return Fail(status, kExitUsage);
    if (line.print_plan) {
      std::cout << PlanToYaml(plan) << std::flush;
      return kExitOk;
    }
  }
  HandleSignals(OnSignal);
  if (transport == "mpi") return RunMpi(line, plan, command);
  if (transport == "grpc") return RunGrpc(line, plan, command);
  return RunLocal(line, plan, command);
}

int Main(const std::vector<std::string>& arguments) {
  signal(SIGPIPE, SIG_IGN);  // `cluster-iobench … | head` must not leave a run half done
  spdlog::set_default_logger(spdlog::stderr_color_mt("cluster-iobench"));
  spdlog::set_pattern("cluster-iobench: %l: %v");
  auto line = ParseCommandLine(arguments);
  if (!line.ok())
    return LauncherPromises().promised_rank <= 0 ? Fail(line.status(), kExitUsage) : int{kExitUsage};
  switch (line->command) {
    case Command::kText:
      std::cout << line->text << std::flush;
      return kExitOk;
    case Command::kReport:
      return PrintSavedRun(line->report_directory);
    case Command::kClean:
      return Clean(line->clean_directory);
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
  return iobench::Main(std::vector<std::string>(argv + 1, argv + argc));
}

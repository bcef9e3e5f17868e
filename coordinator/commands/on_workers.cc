#include "coordinator/commands/on_workers.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/model/plan_targets.h"
#include "common/process/usable_memory.h"
#include "common/status_util.h"
#include "common/version.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/option/iozone_output.h"
#include "coordinator/plan/check/target_check.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/run/failure.h"
#include "coordinator/run/run_command.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/saved_run/run_documents.h"
#include "coordinator/process/signals.h"
#include "coordinator/stage/transports.h"
#include "coordinator/validate/choice.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {
namespace {

absl::StatusOr<std::vector<ClientEntry>> ListedClients(const CommandLine& line) {
  if (line.cluster.client_list.empty()) return std::vector<ClientEntry>();
  auto clients = LoadClientList(line.cluster.client_list);
  if (!clients.ok() || !SaysWhere(line.given)) return clients;
  for (const ClientEntry& entry : *clients) {
    if (entry.path.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the client list ", line.cluster.client_list,
                     " names directories to test in its fourth fields, and --path, -f or -F name ",
                     "them too: use only one of the two"));
  }
  return clients;
}

// Adapts a plan to the clients of a list and keeps only the clients that take part. A user's own plan sets the lanes
// per worker and runs on all clients, and so do a validation and a measurement of capacity.
absl::Status FitToClients(const CommandLine& line, std::vector<ClientEntry>& clients, v1::Plan& plan) {
  const GivenOptions& given = line.given;
  const bool says_workers = line.command != Command::kValidate && line.command != Command::kCapacity &&
                            !given.Has("plan") && (!given.Has("suite") || given.Has("lanes"));
  if (says_workers) {
    IOBENCH_ASSIGN_OR_RETURN(
        clients, FirstClients(std::move(clients), plan.lanes_per_worker(), line.cluster.client_list));
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

// Random, so that no run writes the same data as another. Below 2^48, so that every JSON reader represents it exactly.
uint64_t DrawSeed() {
  std::random_device random;
  return (uint64_t{random()} << 16 ^ random()) & ((uint64_t{1} << 48) - 1);
}

// Returns the exit code if there is nothing to resume, after saying why; nullopt: `point` says where to resume.
// `has_ranks`: other ranks wait to be dismissed, which RunPlan does.
std::optional<int> FindWhatToResume(const CommandLine& line, bool has_ranks, ResumePoint& point) {
  auto found =
      FindResumePoint(line.cluster.resume, {kProgramVersion, HostName(), BootId()}, line.cluster.force);
  if (!found.ok()) return Fail(found.status(), absl::IsDataLoss(found.status()) ? kExitIo : kExitUsage);
  point = *std::move(found);
  if (!point.complete || has_ranks) return std::nullopt;
  SayComplete(point);
  return ExitOfPrinting(kExitOk, kExitIo);
}

// The servers measure with as many workers as the clients.
absl::Status GiveServersWorkers(const CommandLine& line, const v1::Plan& plan, uint32_t client_workers,
                                std::vector<HostEntry>& servers) {
  if (plan.server_path().empty()) return absl::OkStatus();
  if (line.command != Command::kRun) {
    return absl::InvalidArgumentError("--server-path (server_path) is for `run`: leave it out");
  }
  if (servers.empty() && line.cluster.samplers == 0) {
    return absl::InvalidArgumentError(
        "--server-path (server_path) is measured by the samplers of servers: it needs --sampler-hosts LIST, or --listen "
        "with --samplers N");
  }
  for (HostEntry& server : servers) {
    server.slots = 1 + WorkersOfEachServer(client_workers, static_cast<uint32_t>(servers.size()));
  }
  return absl::OkStatus();
}

// The servers of --sampler-hosts; none if it is not given.
absl::StatusOr<std::vector<HostEntry>> SamplerHostsOf(const ClusterOptions& place) {
  std::vector<HostEntry> servers;
  if (place.sampler_hosts.empty()) return servers;
  IOBENCH_ASSIGN_OR_RETURN(servers, HostsOf(place.sampler_hosts));
  for (HostEntry& server : servers) {
    if (server.slots > 1) {
      return absl::InvalidArgumentError(absl::StrCat("--sampler-hosts: one sampler sees all of ",
                                                     server.ForPeople(), ": leave out *", server.slots));
    }
    server.sampler = true;
  }
  return servers;
}

// Who takes part, as the options name them.
struct Participants {
  std::vector<ClientEntry> clients;  // of the client list
  std::vector<HostEntry> hosts;      // of --hosts
  std::vector<HostEntry> sampler_hosts;
};

absl::StatusOr<Participants> ParticipantsOf(const CommandLine& line) {
  Participants named;
  IOBENCH_ASSIGN_OR_RETURN(named.clients, ListedClients(line));
  if (!line.cluster.hosts.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(named.hosts, HostsOf(line.cluster.hosts));
  }
  IOBENCH_ASSIGN_OR_RETURN(named.sampler_hosts, SamplerHostsOf(line.cluster));
  return named;
}

// Checks the options of a validation, and returns what it measures; nullopt: nothing, or it is another command.
absl::StatusOr<std::optional<PhaseAmounts>> MeasuredByValidation(const CommandLine& line) {
  if (line.command != Command::kValidate) return std::optional<PhaseAmounts>();
  IOBENCH_ASSIGN_OR_RETURN(const CheckChoice choice, ChoiceFrom(line.validate));
  IOBENCH_RETURN_IF_ERROR(CheckValidateReport(line.validate));
  return choice.measures ? std::optional<PhaseAmounts>(choice.amounts) : std::nullopt;
}

// Returns the checked plan of a run, validation, measurement of capacity or preflight. Keeps only those clients of the
// list that take part. `worker_count`: 0 if it is not known yet.
absl::StatusOr<v1::Plan> CheckedPlan(const CommandLine& line, bool local, uint32_t worker_count,
                                     const std::optional<PhaseAmounts>& performance,
                                     std::vector<ClientEntry>& clients) {
  const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  const uint32_t default_lanes = local ? std::min(4u, processors) : 1;
  // A measurement of capacity runs all lanes on each client of the list. ListMix refuses a list in any case.
  const bool is_capacity = line.command == Command::kCapacity;
  const bool lanes_are_clients = !clients.empty() && (!is_capacity || line.given.Has("mix"));
  if (is_capacity && !clients.empty()) worker_count = static_cast<uint32_t>(clients.size());
  IOBENCH_ASSIGN_OR_RETURN(
      v1::Plan plan,
      BuildPlan(line.given,
                {.default_lanes = clients.empty() ? default_lanes : static_cast<uint32_t>(clients.size()),
                 .worker_count = worker_count,
                 .client_list = lanes_are_clients,
                 .memory_bytes = MemoryOfThisProcess().bytes,
                 .drawn_seed = DrawSeed()}));
  if (!clients.empty()) IOBENCH_RETURN_IF_ERROR(FitToClients(line, clients, plan));
  if (performance.has_value()) {
    UsePerformancePhases(*performance, plan);
    CompletePlan(plan);
  }
  if (line.command == Command::kPreflight) plan.clear_server_path();  // it checks clients
  if (line.command == Command::kCapacity) IOBENCH_RETURN_IF_ERROR(FitPlanToCapacity(line, plan));
  IOBENCH_RETURN_IF_ERROR(CheckPlan(plan));
  if (line.command == Command::kRun || line.command == Command::kCapacity) {
    IOBENCH_RETURN_IF_ERROR(CheckOutDirectory(line.cluster.out.empty() ? "." : line.cluster.out));
  }
  return plan;
}

// What a command does. Empty on MPI ranks other than 0, which get their work from rank 0.
struct Work {
  v1::Plan plan;                      // empty for selftest
  std::optional<ResumePoint> resume;  // nullopt: nothing is resumed
};

// Sets `work`, checked, and removes from `named` those who do not take part. Returns the exit code if the command ends
// here: after an error, which it prints, or because no worker is needed (--print-plan, a complete run).
std::optional<int> SetUp(const CommandLine& line, const TransportSpec& chosen, const MpiLaunch& launch,
                         Participants& named, Work& work) {
  const auto performance = MeasuredByValidation(line);
  if (!performance.ok()) return Fail(performance.status(), kExitUsage);
  ClusterOptions place = line.cluster;
  if (line.simulate > 0) place.insecure = false;  // simulated clients join over loopback, with TLS or without
  if (const absl::Status useful = CheckUsesOf(place, chosen.name); !useful.ok())
    return Fail(useful, kExitUsage);

  const std::string transport = chosen.name;
  const uint32_t worker_count =
      named.hosts.empty() ? chosen.worker_count(line, launch) : WorkersOn(named.hosts);
  if (line.command == Command::kRun && !line.cluster.resume.empty()) {
    work.resume.emplace();
    if (const std::optional<int> done = FindWhatToResume(line, transport == "mpi", *work.resume)) return done;
    work.plan = work.resume->run.plan();
    const auto workers = static_cast<size_t>(work.resume->run.workers_size());
    if (named.clients.size() > workers) named.clients.resize(workers);
  } else if (line.command != Command::kSelftest) {
    auto plan = CheckedPlan(line, transport == "local", worker_count, *performance, named.clients);
    if (!plan.ok()) return Fail(plan.status(), kExitUsage);
    work.plan = *std::move(plan);
    if (line.print_plan) {
      std::cout << PlanToYaml(work.plan) << std::flush;
      return kExitOk;
    }
  }
  absl::Status status;
  if (line.command == Command::kRun) status = CheckDocuments(line.cluster, IozoneOutputOf(line.given));
  status.Update(GiveServersWorkers(line, work.plan, worker_count, named.sampler_hosts));
  if (!status.ok()) return Fail(status, kExitUsage);
  return std::nullopt;
}

}  // namespace

int RunOrSelftest(const CommandLine& line, const std::string& command) {
  const MpiLaunch launch = LauncherPromises();
  const bool prints = launch.promised_rank <= 0;
  if (const absl::Status alone = CheckNoRanks(line, launch); !alone.ok()) {
    return prints ? Fail(alone, kExitUsage) : int{kExitOk};
  }
  // As with MPI's ranks, the silent ones succeed: a launcher may end all tasks as soon as one fails.
  if (const std::optional<SeparateTask> task = SeparateTaskHere(); task.has_value())
    return task->speaks ? Fail(task->refusal, kExitUsage) : int{kExitOk};
  if (line.command == Command::kValidate && line.validate.list) {
    if (prints) std::cout << ListOfChecks() << std::flush;
    return kExitOk;
  }
  if (line.command == Command::kCapacity && !line.capacity.saved.empty()) {
    return prints ? ShowSavedCapacity(line) : int{kExitOk};
  }
  const TransportSpec& chosen = ChosenTransport(line, launch);
  // Only the first MPI rank reads the plan and reports errors in it; mpirun then ends the others.
  const bool follows = std::string(chosen.name) == "mpi" && !prints;
  if (follows && line.print_plan) return kExitOk;
  auto named = ParticipantsOf(line);
  if (!named.ok()) return FailEach(named.status(), kExitUsage);

  Work work;
  if (!follows) {
    if (const std::optional<int> done = SetUp(line, chosen, launch, *named, work)) return *done;
  }
  HandleSignals();
  return chosen.run({.line = line,
                     .plan = work.plan,
                     .clients = named->clients,
                     .hosts = named->hosts,
                     .sampler_hosts = named->sampler_hosts,
                     .command = command,
                     .resume = work.resume.has_value() ? &*work.resume : nullptr});
}

}  // namespace iobench

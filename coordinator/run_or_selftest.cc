#include "coordinator/run_or_selftest.h"

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
#include "common/status_util.h"
#include "common/version.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/worker_needs.h"
#include "coordinator/plan/check/target_check.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/run/failure.h"
#include "coordinator/run/run_command.h"
#include "coordinator/saved_run/resume_point.h"
#include "coordinator/saved_run/run_documents.h"
#include "coordinator/signals.h"
#include "coordinator/transports.h"
#include "coordinator/validate/choice.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {
namespace {

uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

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
// per worker and runs on all clients, and so does a validation.
absl::Status FitToClients(const CommandLine& line, std::vector<ClientEntry>& clients, v1::Plan& plan) {
  const GivenOptions& given = line.given;
  const bool says_lanes =
      line.command != Command::kValidate && !given.Has("plan") && (!given.Has("suite") || given.Has("lanes"));
  if (says_lanes) {
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
  if (!found.ok()) return Fail(found.status(), kExitUsage);
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

}  // namespace

int RunOrSelftest(const CommandLine& line, const std::string& command) {
  const MpiLaunch launch = LauncherPromises();
  const TransportSpec& chosen = ChosenTransport(line, launch);
  const std::string transport = chosen.name;
  // Only the first MPI rank reads the plan and reports errors in it; mpirun then ends the others.
  const bool follows = transport == "mpi" && launch.promised_rank > 0;
  if (const absl::Status alone = CheckNoRanks(line, launch); !alone.ok()) {
    return launch.promised_rank <= 0 ? Fail(alone, kExitUsage) : int{kExitOk};
  }
  const bool validates = line.command == Command::kValidate;
  if (validates && line.validate.list) {
    if (launch.promised_rank <= 0) std::cout << ListOfChecks() << std::flush;
    return kExitOk;
  }
  std::optional<PhaseAmounts> performance;  // what a validation measures
  if (validates && !follows) {
    const auto choice = ChoiceFrom(line.validate);
    if (!choice.ok()) return Fail(choice.status(), kExitUsage);
    if (choice->measures) performance = choice->amounts;
    if (const absl::Status report = CheckValidateReport(line.validate); !report.ok()) {
      return Fail(report, kExitUsage);
    }
  }
  const bool finds_capacity = line.command == Command::kCapacity;
  if (finds_capacity && !line.capacity.saved.empty()) {
    return launch.promised_rank <= 0 ? ShowSavedCapacity(line) : int{kExitOk};
  }
  v1::Plan plan;
  if (follows && line.print_plan) return kExitOk;
  ClusterOptions place = line.cluster;
  if (line.simulate > 0) place.insecure = false;  // simulated clients join over loopback, with TLS or without
  if (const absl::Status useful = CheckUsesOf(place, transport); !useful.ok() && !follows) {
    return Fail(useful, kExitUsage);
  }
  auto clients = ListedClients(line);
  if (!clients.ok()) return FailEach(clients.status(), kExitUsage);
  absl::StatusOr<std::vector<HostEntry>> hosts = std::vector<HostEntry>();
  if (!line.cluster.hosts.empty()) hosts = HostsOf(line.cluster.hosts);
  if (!hosts.ok()) return FailEach(hosts.status(), kExitUsage);
  absl::StatusOr<std::vector<HostEntry>> sampler_hosts = SamplerHostsOf(line.cluster);
  if (!sampler_hosts.ok()) return FailEach(sampler_hosts.status(), kExitUsage);
  ResumePoint point;
  const bool resumes = line.command == Command::kRun && !follows && !line.cluster.resume.empty();
  if (resumes) {
    if (const std::optional<int> done = FindWhatToResume(line, transport == "mpi", point); done.has_value())
      return *done;
    plan = point.run.plan();
    const auto workers = static_cast<size_t>(point.run.workers_size());
    if (clients->size() > workers) clients->resize(workers);
  }
  const bool is_run = line.command == Command::kRun;
  if ((is_run || validates || finds_capacity || line.command == Command::kPreflight) && !follows &&
      !resumes) {
    const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
    const uint32_t default_lanes = transport == "local" ? std::min(4u, processors) : 1;
    auto built =
        BuildPlan(line.given,
                  {.default_lanes = clients->empty() ? default_lanes : static_cast<uint32_t>(clients->size()),
                   .worker_count = hosts->empty() ? chosen.worker_count(line, launch) : WorkersOn(*hosts),
                   .client_list = !clients->empty(),
                   .memory_bytes = MemoryBytes(),
                   .drawn_seed = DrawSeed()});
    absl::Status status = built.status();
    if (status.ok()) {
      plan = *std::move(built);
      if (!clients->empty()) status = FitToClients(line, *clients, plan);
      if (performance.has_value()) {
        UsePerformancePhases(*performance, plan);
        CompletePlan(plan);
      }
      if (line.command == Command::kPreflight) plan.clear_server_path();  // it checks clients
      if (finds_capacity) status.Update(FitPlanToCapacity(line, plan));
      status.Update(CheckPlan(plan));
      if (is_run || finds_capacity)
        status.Update(CheckOutDirectory(line.cluster.out.empty() ? "." : line.cluster.out));
    }
    if (!status.ok()) return Fail(status, kExitUsage);
    if (line.print_plan) {
      std::cout << PlanToYaml(plan) << std::flush;
      return kExitOk;
    }
  }
  if (line.command == Command::kRun && !follows) {
    if (const absl::Status writable = CheckDocuments(line.cluster); !writable.ok())
      return Fail(writable, kExitUsage);
  }
  const uint32_t client_workers = hosts->empty() ? chosen.worker_count(line, launch) : WorkersOn(*hosts);
  if (const absl::Status served = GiveServersWorkers(line, plan, client_workers, *sampler_hosts);
      !served.ok() && !follows) {
    return Fail(served, kExitUsage);
  }
  HandleSignals();
  return chosen.run({.line = line,
                     .plan = plan,
                     .clients = *clients,
                     .hosts = *hosts,
                     .sampler_hosts = *sampler_hosts,
                     .command = command,
                     .resume = resumes ? &point : nullptr});
}

}  // namespace iobench

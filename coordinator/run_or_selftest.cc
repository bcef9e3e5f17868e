#include "coordinator/run_or_selftest.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/plan/target_check.h"
#include "coordinator/run/failure.h"
#include "coordinator/signals.h"
#include "coordinator/transports.h"

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
// per worker and runs on all clients.
absl::Status FitToClients(const CommandLine& line, std::vector<ClientEntry>& clients, v1::Plan& plan) {
  const GivenOptions& given = line.given;
  const bool says_lanes = !given.Has("plan") && (!given.Has("suite") || given.Has("lanes"));
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
  v1::Plan plan;
  if (follows && line.print_plan) return kExitOk;
  if (const absl::Status useful = CheckUsesOf(line.cluster, transport); !useful.ok() && !follows) {
    return Fail(useful, kExitUsage);
  }
  auto clients = ListedClients(line);
  if (!clients.ok()) return Fail(clients.status(), kExitUsage);
  if (line.command == Command::kRun && !follows) {
    const uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
    const uint32_t default_lanes = transport == "local" ? std::min(4u, processors) : 1;
    auto built =
        BuildPlan(line.given,
                  {.default_lanes = clients->empty() ? default_lanes : static_cast<uint32_t>(clients->size()),
                   .worker_count = chosen.worker_count(line, launch),
                   .client_list = !clients->empty(),
                   .memory_bytes = MemoryBytes(),
                   .drawn_seed = DrawSeed()});
    absl::Status status = built.status();
    if (status.ok()) {
      plan = *std::move(built);
      if (!clients->empty()) status = FitToClients(line, *clients, plan);
      status.Update(CheckPlan(plan));
      status.Update(CheckOutDirectory(line.cluster.out.empty() ? "." : line.cluster.out));
    }
    if (!status.ok()) return Fail(status, kExitUsage);
    if (line.print_plan) {
      std::cout << PlanToYaml(plan) << std::flush;
      return kExitOk;
    }
  }
  HandleSignals();
  return chosen.run({.line = line, .plan = plan, .clients = *clients, .command = command});
}

}  // namespace iobench

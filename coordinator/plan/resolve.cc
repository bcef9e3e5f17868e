#include "coordinator/plan/resolve.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/model/phase_shape.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/mix/phase_of_mix.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/background.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/server_phases.h"
#include "coordinator/plan/plan_check.h"

namespace iobench {
namespace {

// Some workers have their path on their own command line, as those of a client list do; the others use the plan's
// paths.
absl::Status UseWorkersPaths(const Roster& roster, v1::Plan& plan) {
  std::vector<std::string> paths;
  bool any = false;
  RemoveServerTargets(plan);
  const std::vector<uint32_t> targets_of_plan = TargetOfEachWorker(plan, roster.worker_count());
  for (uint32_t worker = 0; worker < roster.client_workers; ++worker) {
    const std::string& own = roster.workers[worker].path;
    paths.push_back(own.empty() ? plan.targets(static_cast<int>(targets_of_plan[worker])).path() : own);
    any |= !own.empty();
  }
  if (!any) return absl::OkStatus();
  if (!OnlyTargets(plan).empty()) {
    return absl::InvalidArgumentError(
        "--each-path tests every path with all workers, but some workers have paths of their own (client list, "
        "worker --path): give the paths to the run alone, with --path");
  }
  const std::vector<v1::Target> targets = TargetsOf(paths);
  plan.mutable_targets()->Assign(targets.begin(), targets.end());
  return absl::OkStatus();
}

// --mix: which workers do which part follows from the clients that they are on.
absl::Status SpreadMixes(const Roster& roster, v1::Plan& plan) {
  std::vector<uint32_t> clients = ClientsOf(roster);
  clients.resize(roster.client_workers);
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (phase.has_spreading()) IOBENCH_RETURN_IF_ERROR(SpreadOverWorkers(clients, phase));
  }
  return absl::OkStatus();
}

// The clients, or the workers of a single client.
std::vector<WorkersOfClient> Comparable(const Roster& roster) {
  std::vector<WorkersOfClient> parts;
  for (uint32_t client = 0; client < roster.client_count && roster.client_count > 1; ++client) {
    parts.push_back({.name = roster.clients[client].name, .workers = roster.clients[client].workers});
  }
  for (uint32_t worker = 0; worker < roster.worker_count() && roster.client_count == 1; ++worker) {
    parts.push_back({.name = WorkerOnHost(worker, roster.workers[worker].host), .workers = {worker}});
  }
  return parts;
}

// --per-client, --background
absl::Status SpreadOverClients(const Roster& roster, bool allows_one, v1::Plan& plan) {
  const bool has_background = HasBackground(plan);
  if (!plan.per_client() && !has_background) return absl::OkStatus();
  const std::vector<WorkersOfClient> clients = Comparable(roster);
  if (has_background) return SetBesideBackground(clients, /*by_worker=*/roster.client_count == 1, plan);
  if (clients.size() == 1 && !allows_one) {
    return absl::InvalidArgumentError(
        "--per-client compares clients, and there is only one worker: use more clients (--hosts, --listen, mpirun), or "
        "several workers on this one (--spawn)");
  }
  LetEachClientWorkAlone(clients, plan);
  return absl::OkStatus();
}

// By client: the fewest lanes with files in any phase that its workers do on files. `max_per_worker`: of lanes that
// count; 0: all.
std::map<uint32_t, uint32_t> FewestLanesWithFiles(const v1::Plan& plan, const Roster& roster, uint32_t max_per_worker) {
  std::map<uint32_t, uint32_t> fewest;
  for (const v1::Phase& phase : plan.phases()) {
    uint32_t per_worker = ShapeOf(plan, phase).lanes_per_worker;
    if (max_per_worker > 0) per_worker = std::min(per_worker, max_per_worker);
    const WorkerAssignments assignments(phase, roster.worker_count());
    std::map<uint32_t, uint32_t> lanes;
    for (uint32_t worker = 0; worker < roster.client_workers; ++worker) {
      const v1::Assignment* const assignment = assignments.Of(worker);
      if (assignment == nullptr || IsMetadata(assignment->operation())) continue;
      lanes[roster.workers[worker].client] += assignment->operation().first_lane_files() ? 1 : per_worker;
    }
    for (const auto& [client, count] : lanes) {
      uint32_t& least = fewest.emplace(client, count).first->second;
      least = std::min(least, count);
    }
  }
  return fewest;
}

// -s 2xram
absl::Status SizeFiles(const Roster& roster, uint32_t max_lanes_per_worker, v1::Plan& plan) {
  if (plan.files().memory_percent() == 0) return absl::OkStatus();
  std::vector<ClientMemory> clients;
  for (const auto& [client, lanes] : FewestLanesWithFiles(plan, roster, max_lanes_per_worker)) {
    clients.push_back({.memory_bytes = roster.clients[client].memory_bytes, .lane_count = lanes});
  }
  return clients.empty() ? absl::OkStatus() : SizeFilesByMemory(clients, plan);
}

// --server-path
void LetServersMeasure(const Roster& roster, v1::Plan& plan) {
  if (plan.server_path().empty()) return;
  std::vector<std::vector<uint32_t>> workers_of_servers;
  for (const Roster::Client& client : roster.clients) {
    if (client.server) workers_of_servers.push_back(client.workers);
  }
  SetServerTargets(workers_of_servers, roster.client_workers, plan);
  AddServerPhases(roster.client_workers, static_cast<uint32_t>(workers_of_servers.size()), plan);
}

}  // namespace

absl::StatusOr<v1::Plan> Resolve(const v1::Plan& asked, const Roster& roster, const ResolveContext& context) {
  v1::Plan plan = asked;
  IOBENCH_RETURN_IF_ERROR(UseWorkersPaths(roster, plan));
  IOBENCH_RETURN_IF_ERROR(SpreadMixes(roster, plan));
  IOBENCH_RETURN_IF_ERROR(SpreadOverClients(roster, context.allows_one_client, plan));
  if (!context.resumed) {
    // Depends on which workers do which part of a phase.
    IOBENCH_RETURN_IF_ERROR(SizeFiles(roster, context.least_lanes_per_worker, plan));
  }
  LetServersMeasure(roster, plan);
  IOBENCH_RETURN_IF_ERROR(CheckForWorkers(plan, roster.worker_count()));
  return plan;
}

}  // namespace iobench

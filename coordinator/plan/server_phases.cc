#include "coordinator/plan/server_phases.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "coordinator/plan/background.h"

namespace iobench {
namespace {

// Steps that are about mounts and memory of clients.
bool IsOfClients(const v1::Step& step) {
  return step.has_remount() || step.has_eat_memory() || step.has_fill();
}

// Without a selection, an assignment would be for the servers' workers too.
void SelectClients(uint32_t client_workers, v1::Phase& phase) {
  for (v1::Assignment& assignment : *phase.mutable_assignments()) {
    if (!assignment.who().workers().empty()) continue;
    for (uint32_t worker = 0; worker < client_workers; ++worker)
      assignment.mutable_who()->add_workers(worker);
  }
}

// `phase` selects its workers.
v1::Phase ByServers(uint32_t client_workers, uint32_t servers, const v1::Phase& phase) {
  v1::Phase local = phase;
  local.set_name(absl::StrCat(phase.name(), servers == 1 ? " on the server" : " on the servers"));
  local.mutable_on_servers()->set_phase(phase.name());
  local.mutable_on_servers()->set_servers(servers);
  local.clear_score();
  for (v1::Assignment& assignment : *local.mutable_assignments()) {
    for (uint32_t& worker : *assignment.mutable_who()->mutable_workers()) worker += client_workers;
  }
  local.clear_before();
  for (const v1::Step& step : phase.before()) {
    if (!IsOfClients(step)) *local.add_before() = step;
  }
  return local;
}

absl::Status CannotServe(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--server-path (server_path): ", why));
}

}  // namespace

absl::Status CheckServerPath(const v1::Plan& plan) {
  if (plan.server_path().empty()) return absl::OkStatus();
  if (plan.server_path().front() != '/') {
    return CannotServe(absl::StrCat(plan.server_path(),
                                    " is no absolute path: give the directory as it is named on the server"));
  }
  if (!UsesFiles(plan) || !plan.files().existing_files().empty()) {
    return CannotServe("the servers measure with files of their own, and this plan writes none");
  }
  if (plan.keep_data())
    return CannotServe("it cannot keep the data (-w, keep_data): a later run would need them too");
  if (!OnlyTargets(plan).empty()) return CannotServe("it measures one --path: leave --each-path out");
  if (plan.per_client() || HasBackground(plan)) {
    return CannotServe(
        "the servers do what all clients do together: leave --per-client and --background out");
  }
  if (FillPercent(plan) > 0)
    return CannotServe("the clients fill the servers' file systems: leave --fill out");
  if (plan.has_stripe()) return CannotServe("a server's own directory has no --stripe");
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.has_alone() || phase.has_interference()) {
      return CannotServe(absl::StrCat("phase ", phase.name(), " is by some of the clients only"));
    }
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      if (IsUnmounted(operation)) {
        return CannotServe(
            absl::StrCat("phase ", phase.name(), ": engine ", operation.engine(),
                         " works on URLs, and a server has a directory: mount the file system"));
      }
      if (HasTrace(operation.trace())) {
        return CannotServe(absl::StrCat("phase ", phase.name(), ": trace files are on the clients"));
      }
    }
  }
  return absl::OkStatus();
}

void AddServerPhases(uint32_t client_workers, uint32_t servers, v1::Plan& plan) {
  const auto& phases = plan.phases();
  if (std::any_of(phases.begin(), phases.end(), [](const v1::Phase& each) { return each.has_on_servers(); }))
    return;
  std::vector<v1::Phase> local;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    SelectClients(client_workers, phase);
    local.push_back(ByServers(client_workers, servers, phase));
  }
  plan.mutable_phases()->Add(local.begin(), local.end());
}

void SetServerTargets(std::span<const std::vector<uint32_t>> workers_of_server, uint32_t client_workers,
                      v1::Plan& plan) {
  std::vector<std::vector<uint32_t>> clients_of_target;
  const std::vector<uint32_t> targets = TargetOfEachWorker(plan, client_workers);
  for (uint32_t worker = 0; worker < client_workers; ++worker) {
    const uint32_t target = targets[worker];
    clients_of_target.resize(std::max<size_t>(clients_of_target.size(), target + 1));
    clients_of_target[target].push_back(worker);
  }
  for (size_t target = 0; target < clients_of_target.size(); ++target) {
    auto& who = *plan.mutable_targets(static_cast<int>(target))->mutable_who();
    who.mutable_workers()->Assign(clients_of_target[target].begin(), clients_of_target[target].end());
  }
  for (const std::vector<uint32_t>& workers : workers_of_server) {
    v1::Target& target = *plan.add_targets();
    target.set_path(plan.server_path());
    target.set_server(true);
    target.mutable_who()->mutable_workers()->Assign(workers.begin(), workers.end());
  }
}

void RemoveServerTargets(v1::Plan& plan) {
  auto& targets = *plan.mutable_targets();
  targets.erase(
      std::remove_if(targets.begin(), targets.end(), [](const v1::Target& each) { return each.server(); }),
      targets.end());
}

}  // namespace iobench

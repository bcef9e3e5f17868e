#include "coordinator/analysis/phase/client_roster.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"

namespace iobench {

ClientRoster::ClientRoster(const v1::RunRecord& run) : roster_(RosterOf(run)), other_hosts_(client_count()) {
  for (const Roster::Worker& worker : roster_.workers) {
    std::vector<std::string>& others = other_hosts_[worker.client];
    const std::string& first_host = roster_.workers[WorkersOf(worker.client).front()].host;
    const bool known = worker.host == first_host || std::find(others.begin(), others.end(), worker.host) != others.end();
    if (!known) others.push_back(worker.host);
  }
  if (!run.plan().targets().empty()) {
    target_of_ = TargetOfEachWorker(run.plan(), static_cast<uint32_t>(run.workers_size()));
  }
}

std::string ClientRoster::WorkerName(uint32_t worker) const {
  return absl::StrCat(NameOf(ClientOf(worker)), " worker ", worker);
}

std::string ClientRoster::LaneName(uint32_t worker, uint32_t lane) const {
  return absl::StrCat(WorkerName(worker), " lane ", lane);
}

const v1::TargetFacts* SeenOf(const v1::RunRecord& run, std::span<const uint32_t> workers, uint32_t target) {
  for (const uint32_t worker : workers) {
    if (worker >= static_cast<uint32_t>(run.targets_size())) continue;
    const v1::TargetFacts* const seen = SeenOf(run.targets(static_cast<int>(worker)), target);
    if (seen != nullptr) return seen;
  }
  return nullptr;
}

}  // namespace iobench

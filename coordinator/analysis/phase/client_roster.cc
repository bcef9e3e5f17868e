#include "coordinator/analysis/phase/client_roster.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "common/model/plan_targets.h"

namespace iobench {

ClientRoster::ClientRoster(const v1::RunRecord& run) {
  std::unordered_map<std::string, size_t> client_of_key;
  std::unordered_map<std::string, int> clients_named;
  for (const v1::WorkerFacts& facts : run.workers()) {
    const uint32_t worker = static_cast<uint32_t>(client_of_.size());
    // A worker without a boot id is identified by its host name.
    const std::string key = facts.boot_id().empty() ? absl::StrCat("host ", facts.host())
                                                    : absl::StrCat("boot ", facts.boot_id());
    const auto [position, is_new] = client_of_key.try_emplace(key, clients_.size());
    if (is_new) {
      const std::string host = facts.host().empty() ? "unknown host" : facts.host();
      const int same_name_count = ++clients_named[host];
      clients_.push_back(
          {.name = same_name_count == 1 ? host : absl::StrCat(host, " (", same_name_count, ")"),
           .other_hosts = {},
           .workers = {},
           .is_server = facts.server()});
    }
    Client& client = clients_[position->second];
    if (!client.workers.empty()) {
      const std::string& first_host = run.workers(static_cast<int>(client.workers.front())).host();
      const bool known = facts.host() == first_host ||
                         std::find(client.other_hosts.begin(), client.other_hosts.end(), facts.host()) !=
                             client.other_hosts.end();
      if (!known) client.other_hosts.push_back(facts.host());
    }
    client.workers.push_back(worker);
    client_of_.push_back(position->second);
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

uint64_t MemoryOfWorkers(std::span<const v1::WorkerFacts* const> workers) {
  std::map<uint64_t, uint64_t> of_groups;
  uint64_t host_bytes = 0, sum_bytes = 0;
  for (const v1::WorkerFacts* const facts : workers) {
    of_groups[facts->memory_group()] = facts->memory_bytes();
    host_bytes = std::max({host_bytes, facts->host_memory_bytes(), facts->memory_bytes()});
  }
  for (const auto& [group, bytes] : of_groups) sum_bytes += bytes;
  return std::min(host_bytes, sum_bytes);
}

}  // namespace iobench

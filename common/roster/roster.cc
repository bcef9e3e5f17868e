#include "common/roster/roster.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// Equal for the workers of one client. Views of the facts.
using ClientKey = std::tuple<std::string_view, std::string_view, uint32_t, bool>;

ClientKey KeyOf(const v1::WorkerFacts& facts) {
  const std::string_view host = facts.boot_id().empty() ? std::string_view(facts.host()) : std::string_view();
  return {facts.boot_id(), host, facts.clone(), facts.server()};
}

}  // namespace

Roster RosterOf(std::span<const v1::WorkerFacts* const> facts) {
  Roster roster;
  std::map<ClientKey, uint32_t> client_of_key;
  std::unordered_map<std::string, int> clients_named;
  for (const v1::WorkerFacts* const worker : facts) {
    const auto [known, is_new] = client_of_key.emplace(KeyOf(*worker), roster.host_count());
    if (is_new) {
      const std::string host = worker->host().empty() ? "unknown host" : worker->host();
      const int same_name_count = ++clients_named[host];
      roster.clients.push_back({.name = same_name_count == 1 ? host : absl::StrCat(host, " (", same_name_count, ")"),
                                .workers = {},
                                .memory_bytes = 0,
                                .server = worker->server()});
      roster.client_count += worker->server() ? 0 : 1;
    }
    roster.client_workers += worker->server() ? 0 : 1;
    roster.clients[known->second].workers.push_back(roster.worker_count());
    roster.workers.push_back({.client = known->second,
                              .host = worker->host(),
                              .boot_id = worker->boot_id(),
                              .clone = worker->clone(),
                              .server = worker->server(),
                              .path = worker->path()});
  }
  for (Roster::Client& client : roster.clients) {
    std::vector<const v1::WorkerFacts*> own;
    for (const uint32_t worker : client.workers) own.push_back(facts[worker]);
    client.memory_bytes = MemoryOfWorkers(own);
  }
  return roster;
}

Roster RosterOf(const v1::RunRecord& run) {
  const std::vector<const v1::WorkerFacts*> facts(run.workers().pointer_begin(), run.workers().pointer_end());
  return RosterOf(facts);
}

std::vector<uint32_t> ClientsOf(const Roster& roster) {
  std::vector<uint32_t> clients;
  clients.reserve(roster.workers.size());
  for (const Roster::Worker& worker : roster.workers) clients.push_back(worker.client);
  return clients;
}

std::vector<std::string> ClientNamesOf(const Roster& roster) {
  std::vector<std::string> names;
  names.reserve(roster.workers.size());
  for (const Roster::Worker& worker : roster.workers) names.push_back(roster.clients[worker.client].name);
  return names;
}

std::string WorkerOnHost(uint32_t number, std::string_view host) {
  return absl::StrCat("worker ", number, " on ", absl::string_view(host.data(), host.size()));
}

bool IsOnHost(const v1::WorkerFacts& worker, std::string_view boot_id) {
  return worker.boot_id() == boot_id && worker.clone() == 0;
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

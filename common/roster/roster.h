// Who takes part in a run: its workers, and the clients and servers that they are on. The rule of which workers share a
// client is here and nowhere else. Values only, computed from what workers report when they join.
#ifndef COMMON_ROSTER_ROSTER_H_
#define COMMON_ROSTER_ROSTER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Workers share a client if they have the same boot id (without one: the same host name) and the same clone number. A
// server that mounts its own export may be a client too: its workers that measure its own directory are apart.
struct Roster {
  struct Worker {
    uint32_t client = 0;  // index in `clients`
    std::string host;     // for display, since hosts may share a name
    std::string boot_id;
    uint32_t clone = 0;   // WorkerFacts.clone
    bool server = false;  // WorkerFacts.server
    std::string path;     // its own (WorkerFacts.path); empty: it uses the plan's targets
  };
  struct Client {
    std::string name;               // "node1"; if several clients have this host name, "node1 (2)", "node1 (3)"
    std::vector<uint32_t> workers;  // in ascending order, at least one
    uint64_t memory_bytes = 0;      // that they can use together (MemoryOfWorkers); 0: unknown
    bool server = false;            // it is no client, but a server that measures its own directory
  };

  uint32_t worker_count() const { return static_cast<uint32_t>(workers.size()); }
  uint32_t host_count() const { return static_cast<uint32_t>(clients.size()); }  // clients and servers
  uint32_t client_count = 0;                                                     // without servers
  uint32_t client_workers = 0;                                                   // workers of clients

  std::vector<Worker> workers;  // by number
  std::vector<Client> clients;  // in the order of their first workers
};

// `facts`: by worker number. REQUIRES, for `clients` to begin with client_count clients and `workers` with client_workers
// of theirs: workers of servers come last.
Roster RosterOf(std::span<const v1::WorkerFacts* const> facts);
Roster RosterOf(const v1::RunRecord& run);

// By worker: the index of its client, and its client's name.
std::vector<uint32_t> ClientsOf(const Roster& roster);
std::vector<std::string> ClientNamesOf(const Roster& roster);

// "worker 3 on node07"
std::string WorkerOnHost(uint32_t number, std::string_view host);

// True if the worker is on the host with this boot id itself, and not on a machine that was cloned from it.
bool IsOnHost(const v1::WorkerFacts& worker, std::string_view boot_id);

// Returns the memory that workers of one client can use together, with the page cache: what limits of their control
// groups leave them, each group counted once, and at most what the host has; 0: unknown.
uint64_t MemoryOfWorkers(std::span<const v1::WorkerFacts* const> workers);

}  // namespace iobench

#endif  // COMMON_ROSTER_ROSTER_H_

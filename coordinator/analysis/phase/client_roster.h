// Maps the workers of a saved run to clients (common/roster) and targets, and provides display names.
#ifndef COORDINATOR_ANALYSIS_PHASE_CLIENT_ROSTER_H_
#define COORDINATOR_ANALYSIS_PHASE_CLIENT_ROSTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/roster/roster.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Clients are numbered in the order of their first worker. Does not borrow `run`; immutable, so threads may share it.
class ClientRoster {
 public:
  explicit ClientRoster(const v1::RunRecord& run);

  size_t client_count() const { return roster_.clients.size(); }
  size_t worker_count() const { return roster_.workers.size(); }
  size_t ClientOf(uint32_t worker) const { return roster_.workers[worker].client; }  // REQUIRES: worker < worker_count()
  // Returns the index in the plan of a worker's target, in phases without only_target. REQUIRES: as above, and the plan
  // has targets.
  uint32_t TargetOf(uint32_t worker) const { return target_of_[worker]; }
  // Returns worker numbers in ascending order, at least one. REQUIRES, here and below: client < client_count().
  const std::vector<uint32_t>& WorkersOf(size_t client) const { return roster_.clients[client].workers; }

  // Returns "node1"; if several boot ids have the same host name, "node1", "node1 (2)", "node1 (3)".
  const std::string& NameOf(size_t client) const { return roster_.clients[client].name; }
  // True if it is no client but a server that measures its own directory; these come last.
  bool IsServer(size_t client) const { return roster_.clients[client].server; }
  // Returns host names other than the client's own that its workers report (containers, cloned machines).
  const std::vector<std::string>& OtherHostsOf(size_t client) const { return other_hosts_[client]; }

  std::string WorkerName(uint32_t worker) const;               // "node1 worker 3"
  std::string LaneName(uint32_t worker, uint32_t lane) const;  // "node1 worker 3 lane 7"

 private:
  Roster roster_;
  std::vector<std::vector<std::string>> other_hosts_;  // by client
  std::vector<uint32_t> target_of_;                    // by worker; empty if the plan has no targets
};

// Returns what a worker of the client has seen of a target of the plan; not all workers need to use it. nullptr: none
// was asked about it.
const v1::TargetFacts* SeenOf(const v1::RunRecord& run, std::span<const uint32_t> workers, uint32_t target);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_CLIENT_ROSTER_H_

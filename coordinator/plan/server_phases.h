// The phases and targets with which servers measure themselves (--server-path).
#ifndef COORDINATOR_PLAN_SERVER_PHASES_H_
#define COORDINATOR_PLAN_SERVER_PHASES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// Checks --server-path. InvalidArgument: the servers cannot do what the plan's phases do. OK without it.
absl::Status CheckServerPath(const v1::Plan& plan);

// Repeats the clients' phases, after all of them, as done by the servers (Phase.on_servers), without steps that concern
// clients; the clients' phases select their own workers, those below client_workers. The servers' counterpart of worker
// w is worker client_workers + w. Does nothing if the plan has such phases.
void AddServerPhases(uint32_t client_workers, uint32_t servers, v1::Plan& plan);

// Adds a target at server_path for each server, and fixes the workers of the other targets to those that they have now.
// REQUIRES: no such targets.
void SetServerTargets(std::span<const std::vector<uint32_t>> workers_of_server, uint32_t client_workers,
                      v1::Plan& plan);

// Removes the targets of SetServerTargets.
void RemoveServerTargets(v1::Plan& plan);

}  // namespace iobench

#endif  // COORDINATOR_PLAN_SERVER_PHASES_H_

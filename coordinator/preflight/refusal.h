// Decides how a run with faulty clients goes on: without these clients (--skip-bad), or not at all. Pure.
#ifndef COORDINATOR_PREFLIGHT_REFUSAL_H_
#define COORDINATOR_PREFLIGHT_REFUSAL_H_

#include <cstdint>
#include <set>
#include <span>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/preflight/preflight.h"

namespace iobench {

// Returns the numbers of all workers of clients with a fault that leaving them out cures (--skip-bad). Servers stay
// whatever their faults are, because their phases need all of their workers.
std::set<uint32_t> WorkersToLeaveOut(std::span<const Member> members, std::span<const Finding> findings);
// Returns whether there are workers of clients besides these.
bool LeavesClients(std::span<const Member> members, const std::set<uint32_t>& left_out);

// Returns how a run with these faults is refused: the only fault's own message, or one that counts them and relies on
// their table (preflight_text.h) being shown. It advises --skip-bad only if that leaves clients and no faulty server.
// OK: there is no fault.
absl::Status RefusalFor(std::span<const Member> members, std::span<const Finding> findings);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_REFUSAL_H_

#include "coordinator/preflight/refusal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace iobench {

std::set<uint32_t> WorkersToLeaveOut(std::span<const Member> members, std::span<const Finding> findings) {
  std::set<uint32_t> clients;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kFault || !finding.of_client) continue;
    for (const uint32_t worker : finding.workers) clients.insert(members[worker].client);
  }
  std::set<uint32_t> workers;
  for (const Member& member : members) {
    if (clients.contains(member.client) && !member.facts.server()) workers.insert(member.number);
  }
  return workers;
}

bool LeavesClients(std::span<const Member> members, const std::set<uint32_t>& left_out) {
  return std::any_of(members.begin(), members.end(), [&left_out](const Member& member) {
    return !member.facts.server() && !left_out.contains(member.number);
  });
}

absl::Status RefusalFor(std::span<const Member> members, std::span<const Finding> findings) {
  std::vector<const Finding*> faults;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kFault) faults.push_back(&finding);
  }
  if (faults.empty()) return absl::OkStatus();
  const auto line = [](const Finding& fault) {
    if (!fault.alone.ok()) return std::string(fault.alone.message());
    return absl::StrCat(fault.client.empty() ? "" : absl::StrCat(fault.client, ": "), fault.problem,
                        fault.advice.empty() ? "" : absl::StrCat(": ", fault.advice));
  };
  if (faults.size() == 1) {
    const absl::Status& alone = faults.front()->alone;
    return alone.ok() ? absl::FailedPreconditionError(line(*faults.front())) : alone;
  }
  std::set<std::string> clients;
  for (const Finding* const fault : faults) clients.insert(fault->client);
  const std::set<uint32_t> left_out = WorkersToLeaveOut(members, findings);
  const bool on_server = std::any_of(faults.begin(), faults.end(), [members](const Finding* fault) {
    return !fault->workers.empty() && members[*fault->workers.begin()].facts.server();
  });
  const bool leaves_somebody = !left_out.empty() && !on_server && LeavesClients(members, left_out);
  return absl::FailedPreconditionError(
      absl::StrCat(faults.size(), " faults on ", clients.size(), clients.size() == 1 ? " client" : " clients",
                   ", listed above: fix them",
                   !leaves_somebody      ? ""
                   : clients.size() == 1 ? ", or leave this client out with --skip-bad"
                                         : ", or leave these clients out with --skip-bad"));
}

}  // namespace iobench

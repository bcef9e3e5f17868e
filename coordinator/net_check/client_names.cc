#include "coordinator/net_check/client_names.h"

#include "coordinator/analysis/phase/client_roster.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

std::vector<std::string> ClientNamesOf(std::span<const Member> members) {
  v1::RunRecord run;
  for (const Member& member : members) *run.add_workers() = member.facts;
  const ClientRoster roster(run);
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(roster.NameOf(roster.ClientOf(member.number)));
  return names;
}

}  // namespace iobench

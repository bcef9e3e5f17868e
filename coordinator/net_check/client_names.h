// The names of clients before there is a report.
#ifndef COORDINATOR_NET_CHECK_CLIENT_NAMES_H_
#define COORDINATOR_NET_CHECK_CLIENT_NAMES_H_

#include <span>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"

namespace iobench {

// Returns the name of each member's client as reports show it (ClientRoster): "node1", and "node1 (2)" for another
// client with that host name. REQUIRES: the members' numbers are their positions.
std::vector<std::string> ClientNamesOf(std::span<const Member> members);

}  // namespace iobench

#endif  // COORDINATOR_NET_CHECK_CLIENT_NAMES_H_
